"use strict";
// Lists what matches while the reader types, without loading the page again; keys move along the list.
(() => {
  const { byId, call, isTyped, tell } = vouch;
  const form = byId("search");
  const found = byId("found");
  if (matchMedia("(min-width: 820px)").matches) document.querySelector(".filters").open = true;
  let asking = null;
  let waiting = 0;

  const list = async (query) => {
    asking?.abort();
    asking = new AbortController();
    try {
      const answer = await call("GET", `/history?${query}`, undefined, { headers: { "x-part": "list" }, signal: asking.signal });
      const text = await answer.text();
      const focused = found.contains(document.activeElement) && document.activeElement.getAttribute("href");
      // Drawn by the server's templates, which escape every text.
      found.innerHTML = text;
      if (focused) (found.querySelector(`.row a[href="${focused}"]`) ?? found.querySelector(".row a"))?.focus();
      history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}`);
      tell("");
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message, true);
    }
  };
  const query = () => {
    const given = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...given]) if (!value.trim()) given.delete(name);
    return given.toString();
  };
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => list(query()), event.target.matches("input") ? 120 : 0);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); list(query()); });
  found.addEventListener("click", async (event) => {
    const link = event.target.closest(".pages a");
    if (!link) return;
    event.preventDefault();
    await list(new URL(link.href).search.slice(1));
    scrollTo(0, 0);
    found.querySelector("a")?.focus();
  });
  const step = (by) => {
    const links = [...found.querySelectorAll(".row a")];
    const at = links.indexOf(document.activeElement);
    links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === byId("text")) return event.target.blur();
    if (isTyped(event)) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/") byId("text").focus();
    else return;
    event.preventDefault();
  });
})();
