"use strict";
// Light or dark: the system's choice until the reader makes one. Runs before the body is there, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const remember = (theme) => {
    try { localStorage.setItem("vouch-theme", theme); } catch { /* a file opened from disk may have no storage */ }
  };
  const remembered = () => {
    try { return localStorage.getItem("vouch-theme"); } catch { return null; }
  };
  root.classList.add("js");
  if (remembered()) root.dataset.theme = remembered();
  document.addEventListener("click", (event) => {
    if (event.target.id !== "theme") return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    remember(root.dataset.theme);
  });
})();
