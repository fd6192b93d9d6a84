"use strict";
// What the served pages share: calls of the API, the status line, help, and signing out.
const vouch = (() => {
  const byId = (id) => document.getElementById(id);
  const tell = (words, fault = false) => {
    byId("status").textContent = words;
    byId("status").className = fault ? "fault" : "quiet";
  };
  // The answer of the server, or an error with its words. A body that is no file is sent as JSON.
  const call = async (method, path, body, { headers = {}, signal } = {}) => {
    const raw = body === undefined || body instanceof Blob || typeof body === "string";
    const answer = await fetch(path, {
      method,
      body: raw ? body : JSON.stringify(body),
      headers: raw ? headers : { "content-type": "application/json", ...headers },
      signal,
    });
    if (answer.ok) return answer;
    let detail = `the server answered with status ${answer.status}`;
    try { detail = (await answer.json()).detail || detail; } catch { /* no problem object */ }
    if (answer.status === 401) detail += " (your session may have ended: load the page again)";
    throw Object.assign(new Error(detail), { status: answer.status });
  };
  // Whether a key is typed into a field, or belongs to the browser.
  const isTyped = (event) => event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), textarea, select, dialog");
  const help = byId("help");
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || isTyped(event)) return;
    event.preventDefault();
    help.showModal();
  });
  document.addEventListener("click", async (event) => {
    if (event.target.id === "sign-out") {
      await fetch("/v1/session", { method: "DELETE" });
      location.assign("/");
    }
    if (event.target.id === "show-help") help.showModal();
  });
  return { byId, call, isTyped, tell };
})();
