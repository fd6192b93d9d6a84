"use strict";
// Exchanges a key, or on a server without keys a name, for the cookie of a session.
(() => {
  const form = document.getElementById("sign-in");
  if (!form) return;
  const secret = document.getElementById("secret");
  secret.focus();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await vouch.call("POST", "/v1/session", { [form.dataset.field]: secret.value });
      location.reload();
    } catch (error) {
      vouch.tell(error.message, true);
      secret.select();
    }
  });
})();
