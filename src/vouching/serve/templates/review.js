"use strict";
// Takes one verdict after the other, and sends what the reviewer decides. Every key is also a button or a field.
(() => {
  const { byId, call, isTyped, tell } = vouch;
  const place = byId("item");
  const which = byId("which");
  const html = { headers: { accept: "text/html" } };
  let shown = null;
  let span = null;
  let busy = false;

  const deciding = () => place.querySelector(".deciding");
  const letters = (text) => [...text].length;
  const show = async (answer) => {
    shown?.abort();
    shown = new AbortController();
    span = null;
    // Drawn by the server's templates, which escape every text.
    place.innerHTML = await answer.text();
    const [open, disputed, final] = place.firstElementChild.dataset.counts.split(" ").map((number) => Number(number).toLocaleString("en"));
    byId("counts").textContent = `${open} open · ${disputed} disputed · ${final} decided`;
    if (deciding()) {
      vouchReport(shown.signal);
      followLabel();
    }
    byId("heading").focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  const wanted = () => Object.fromEntries([...new FormData(which)].filter(([, value]) => value.trim()));
  // One request after the other: a key that is pressed twice decides once.
  const alone = async (work) => {
    if (busy) return;
    busy = true;
    try {
      await work();
    } catch (error) {
      tell(error.message, true);
      if (error.status === 409) await show(await call("POST", "/v1/queue/next", wanted(), html));
    } finally {
      busy = false;
    }
  };
  const next = async () => show(await call("POST", "/v1/queue/next", wanted(), html));

  // The decision
  const chosen = (name) => place.querySelector(`input[name=${name}]:checked`);
  const followLabel = () => {
    const wrong = chosen("label").value === "Not Attributable";
    byId("types").disabled = !wrong;
    const type = chosen("error_type");
    if (!wrong && type) type.checked = false;
    // Back at the verdict's label, its own type shows again: without one, the server would confirm it unseen.
    const own = place.querySelector("input[name=error_type][checked]");
    if (wrong && !type && own) own.checked = true;
  };
  const choose = (number) => {
    const all = [...place.querySelectorAll(".option input")];
    const input = all[number - 1];
    if (!input) return;
    if (input.name === "error_type") all[1].checked = true;
    input.checked = true;
    followLabel();
    tell(input.parentElement.textContent.trim().replace(/^\d\s*/, ""));
  };
  const claim = () => JSON.parse(deciding().dataset.claim);
  // Characters are counted as Python counts them; what is written out, such as <U+202E>, counts as a whole.
  const offset = (node, at, isEnd) => {
    const part = node.nodeType === Node.TEXT_NODE ? node.parentElement.closest("[data-at]") : null;
    if (!part) return null;
    const [start, length] = [Number(part.dataset.at), Number(part.dataset.length)];
    if (letters(part.textContent) !== length) return start + (isEnd ? length : 0);
    return start + letters(node.data.slice(0, at));
  };
  const selected = () => {
    const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
    if (!range || range.collapsed || !byId("claim").contains(range.commonAncestorContainer)) return null;
    const [start, end] = [offset(range.startContainer, range.startOffset, false), offset(range.endContainer, range.endOffset, true)];
    return start === null || end === null || end <= start ? null : [start, end];
  };
  const typed = () => {
    const words = byId("span").value.trim();
    if (!words) return null;
    const text = claim();
    // In the claim itself: its lower case may have more characters than it has.
    const found = text.match(new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu"));
    if (!found) throw new Error(`the claim does not contain “${words}”: copy the wrong part from it, or leave the field empty`);
    return [letters(text.slice(0, found.index)), letters(text.slice(0, found.index + found[0].length))];
  };
  const takeSpan = () => {
    span = selected();
    if (!span) return byId("span").focus();
    byId("span").value = [...claim()].slice(...span).join("");
    tell("Wrong part marked.");
  };
  const suggest = () => {
    const fix = byId("fix");
    fix.value ||= JSON.parse(fix.dataset.suggested);
    fix.focus();
  };
  const save = () => alone(async () => {
    const id = deciding().dataset.id;
    const label = chosen("label").value;
    const type = label === "Not Attributable" && chosen("error_type") ? chosen("error_type").value : null;
    const fix = byId("fix").value.trim() ? byId("fix").value : null;
    await call("POST", `/v1/queue/${id}/decide`, { label, error_type: type, span: span ?? typed(), fix, note: byId("note").value });
    tell(`Saved ${id}: ${label}${type ? `, ${type.replaceAll("_", " ")}` : ""}.`);
    await next();
  });
  const skip = () => alone(async () => {
    const id = deciding().dataset.id;
    await call("POST", `/v1/queue/${id}/skip`, { note: byId("note").value });
    tell(`Skipped ${id}.`);
    await next();
  });
  const undo = () => alone(async () => {
    const answer = await call("POST", "/v1/queue/undo", undefined, html);
    const before = answer.clone();
    if (!(await before.text()).includes("data-id")) return tell("There is nothing to take back.");
    await show(answer);
    tell(`Taken back: ${deciding().dataset.id}.`);
  });

  // Fields, buttons, keys
  place.addEventListener("change", (event) => { if (event.target.name === "label") followLabel(); });
  place.addEventListener("input", (event) => { if (event.target.id === "span") span = null; });
  place.addEventListener("submit", (event) => { event.preventDefault(); save(); });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.id === "skip") skip();
    if (button?.id === "undo") undo();
  });
  which.addEventListener("change", () => {
    history.replaceState(null, "", `${location.pathname}?${new URLSearchParams(wanted())}`);
    alone(next);
  });
  which.addEventListener("submit", (event) => event.preventDefault());
  const keys = { e: () => (place.querySelector("#types input:checked") || place.querySelector("#types input")).focus(), s: takeSpan, f: suggest, n: () => byId("note").focus(), j: skip, u: undo, k: undo };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && deciding()) {
      event.preventDefault();
      return save();
    }
    if (event.key === "Escape" && event.target.closest("#item input, #item textarea")) return event.target.blur();
    if (isTyped(event)) return;
    const key = event.key;
    if (key === "u" || key === "k") undo();
    else if (!deciding()) return;
    else if (key >= "1" && key <= "8") choose(Number(key));
    else if (key === "Enter" && !event.target.closest("button, a, summary")) save();
    else if (key === "e" && byId("types").disabled) { choose(2); keys.e(); }
    else if (keys[key]) keys[key]();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  const asked = new URLSearchParams(location.search);
  for (const name of ["policy", "caller"]) if (asked.has(name)) byId(name).value = asked.get(name);
  alone(async () => {
    if (!asked.has("item")) return next();
    history.replaceState(null, "", location.pathname);
    return show(await call("POST", `/v1/queue/${encodeURIComponent(asked.get("item"))}/take`, undefined, html));
  });
})();
