"use strict";
// Selects what is visible: a claim, the texts and marks beside it, and the rows that pass the filter. A served page calls
// vouchReport again for each workspace that it shows, with a signal that ends what listens for the one before.
const vouchReport = (signal) => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const reading = document.querySelector(".reading");
  const response = document.querySelector(".response");
  const small = matchMedia("(max-width: 819px)");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // A large page keeps findings and texts as text; each is added to the page when it is first shown.
  const packed = new Map(all("script[data-name]").map((script) => [script.dataset.name, script]));
  const unpacked = (name) => {
    const script = packed.get(name);
    if (script) {
      const box = document.createElement("template");
      box.innerHTML = script.textContent;
      script.replaceWith(box.content);
      packed.delete(name);
    }
    return byId(name);
  };

  // A single claim is in no list: its finding takes the place of its row.
  const workspace = document.querySelector(".workspace");
  const rows = all(workspace.querySelector(".row") ? ".row" : ".finding", workspace).map((row) => {
    const link = row.id ? row : row.firstElementChild;
    return { row, link, name: row.id || link.hash.slice(1), label: row.dataset.label, error: row.dataset.error, words: null, said: [] };
  });
  const byName = new Map(rows.map((item) => [item.name, item]));
  for (const said of response ? all(".said", response) : []) byName.get(said.hash.slice(1))?.said.push(said);

  // Choosing a claim
  let current = null;
  let lit = [];
  const reveal = (element) => {
    // Only the box that holds an element scrolls, not the page; a single claim on a small screen has no box.
    if (small.matches && !reading.previousElementSibling) {
      element.scrollIntoView({ block: "center", behavior: calm.matches ? "auto" : "smooth" });
      return;
    }
    const box = small.matches ? reading : element.closest(".findings, .texts");
    const inner = element.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    if (inner.top >= outer.top + 8 && inner.bottom <= outer.bottom - 8) return;
    const top = box.scrollTop + inner.top - outer.top - outer.height / 3;
    box.scrollTo({ top, behavior: calm.matches ? "auto" : "smooth" });
  };
  const show = (item, on) => {
    const finding = unpacked(item.name);
    const texts = finding.dataset.texts.split(" ").filter(Boolean).map(unpacked);
    for (const element of [finding, ...texts]) element.classList.toggle("on", on);
    const inTexts = texts.flatMap((text) => all(`.said[href="#${item.name}"]`, text));
    for (const element of [item.link, ...item.said, ...inTexts]) {
      if (on) element.setAttribute("aria-current", "true");
      else element.removeAttribute("aria-current");
    }
    return { finding, texts };
  };
  const light = (number, texts) => {
    for (const element of lit) delete element.dataset.lit;
    lit = [];
    for (const status of ["match", "conflict", "mismatch"]) {
      for (const element of texts.flatMap((text) => all(`mark[data-${status}~="${number}"]`, text))) {
        element.dataset.lit = status;
        lit.push(element);
      }
    }
    const first = lit.find((element) => element.dataset.lit === "mismatch") || lit[0];
    if (first && !small.matches) reveal(first);
  };
  const select = (item, open = true) => {
    if (!item) return;
    if (current) show(current, false);
    current = item;
    const { finding, texts } = show(item, true);
    finding.parentElement.scrollTop = 0;
    if (open) {
      reading.classList.add("open");
      reading.scrollTop = 0;
      history.replaceState(null, "", `#${item.name}`);
    }
    light(item.name.slice("claim-".length), texts);
  };
  const close = () => {
    reading.classList.remove("open");
    if (current) current.link.focus();
  };
  const step = (by) => {
    const list = rows.filter((item) => !item.row.hidden);
    const at = list.indexOf(current);
    const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))];
    if (!next) return;
    select(next);
    next.link.focus({ preventScroll: true });
    next.row.scrollIntoView({ block: "nearest" });
  };

  // Filter
  const field = byId("words");
  const chosen = { label: new Set(), error: new Set() };
  const chips = [];
  const passes = (item, wanted, apart) =>
    (!wanted || item.words.includes(wanted)) &&
    ["label", "error"].every((by) => by === apart || !chosen[by].size || chosen[by].has(item[by]));
  const filter = () => {
    const wanted = field.value.trim().toLowerCase();
    const counts = new Map();
    let left = 0;
    for (const item of rows) {
      if (wanted) item.words ??= item.row.textContent.toLowerCase();
      // What a chip counts follows the other filters, not its own group.
      for (const by of ["label", "error"]) {
        if (!passes(item, wanted, by)) continue;
        const key = `${by} ${item[by]}`;
        counts.set(key, (counts.get(key) || 0) + 1);
      }
      const out = !passes(item, wanted);
      left += !out;
      if (item.row.hidden === out) continue;
      item.row.hidden = out;
      for (const element of item.said) element.classList.toggle("out", out);
    }
    for (const { chip, number, key } of chips) {
      number.textContent = (counts.get(key) || 0).toLocaleString("en");
      chip.classList.toggle("none", !counts.get(key));
    }
    const total = rows.length.toLocaleString("en");
    const count = document.querySelector(".count");
    const nouns = count.dataset.noun;
    count.textContent = left === rows.length ? `${total} ${nouns}` : `${left.toLocaleString("en")} of ${total} ${nouns}`;
  };
  const addChip = (group, by, value) => {
    const chip = document.createElement("button");
    const number = document.createElement("b");
    chip.type = "button";
    chip.className = "chip";
    chip.setAttribute("aria-pressed", "false");
    chip.append(value, " ", number);
    chip.addEventListener("click", () => {
      const on = !chosen[by].delete(value);
      if (on) chosen[by].add(value);
      chip.setAttribute("aria-pressed", String(on));
      filter();
    });
    group.append(chip);
    chips.push({ chip, number, key: `${by} ${value}` });
  };
  for (const group of all(".chips")) {
    const values = [...new Set(rows.map((item) => item[group.dataset.by]))].filter(Boolean).sort();
    if (values.length > 1) for (const value of values) addChip(group, group.dataset.by, value);
  }

  // Pointer, keys, address
  const listen = (target, type, heard) => target.addEventListener(type, heard, { signal });
  listen(document, "click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const item = byName.get(link.hash.slice(1));
    const place = byId(link.hash.slice(1));
    if (item) {
      select(item);
      if (small.matches) link.scrollIntoView({ block: "nearest" });
      // A click without a pointer is the Enter key: the reader goes on in the finding.
      if (event.detail === 0) byId(item.name).focus({ preventScroll: true });
    } else if (place) {
      for (const element of all("mark.found")) element.classList.remove("found");
      place.classList.add("found");
      reveal(place);
    }
  });
  listen(document, "keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.target === field;
    if (!typing && event.target.closest("input, textarea, select")) return;
    const inRows = event.target.closest(".row");
    if (event.key === "Escape" && typing && field.value) {
      field.value = "";
      filter();
    } else if (event.key === "Escape") {
      if (typing) field.blur();
      else close();
    } else if (typing && (event.key === "Enter" || event.key === "ArrowDown")) step(0);
    else if (typing) return;
    else if (event.key === "j" || (inRows && event.key === "ArrowDown")) step(1);
    else if (event.key === "k" || (inRows && event.key === "ArrowUp")) step(-1);
    else if (event.key === "/" && field) field.focus();
    else return;
    event.preventDefault();
  });
  byId("close").addEventListener("click", close);
  listen(window, "hashchange", () => select(byName.get(location.hash.slice(1))));
  listen(window, "beforeprint", () => {
    for (const item of rows) unpacked(item.name).classList.toggle("out", item.row.hidden);
  });

  if (!rows.length) return;
  if (field) {
    field.addEventListener("input", filter);
    filter();
  }
  const linked = byName.get(location.hash.slice(1));
  select(linked || rows.find((item) => !item.row.classList.contains("match")) || rows[0], Boolean(linked));
  if (linked) (linked.said[0] || linked.row).scrollIntoView({ block: "center" });
};
if (document.querySelector(".reading")) vouchReport();
