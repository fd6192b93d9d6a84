"use strict";
// Loads the page again for what its reader chooses.
(() => {
  const which = document.getElementById("which");
  const load = () => {
    const given = new URLSearchParams([...new FormData(which)].filter(([, value]) => value.trim()));
    location.search = given.toString();
  };
  which.addEventListener("change", load);
  which.addEventListener("submit", (event) => { event.preventDefault(); load(); });
})();
