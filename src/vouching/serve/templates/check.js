"use strict";
// Sends a text and its sources to the server's API, shows each claim when it is judged, then the whole result.
(() => {
  const { byId, tell } = vouch;
  const form = byId("ask");
  const [said, question, pasted, files, added] = ["said", "question", "pasted", "files", "added"].map(byId);
  const [judge, check, stop] = ["judge", "check", "stop"].map(byId);
  const [arriving, result] = ["arriving", "result"].map(byId);
  const signs = { match: "✓", mismatch: "✗", not_found: "∅", unverified: "?" };
  let sources = [];
  let running = null;
  let shown = null;
  const call = (path, body, headers) => vouch.call("POST", path, body, { headers, signal: running?.signal });
  const searches = () => (judge ? judge.selectedOptions[0] : check).dataset.searches;

  // Files
  const list = () => {
    added.replaceChildren(...sources.map((source, place) => {
      const item = document.createElement("li");
      const drop = document.createElement("button");
      const name = document.createElement("span");
      name.className = "line";
      name.textContent = `${source.id} · ${source.text.length.toLocaleString("en")} characters`;
      drop.type = "button";
      drop.textContent = "✕";
      drop.setAttribute("aria-label", `Remove ${source.id}`);
      drop.addEventListener("click", () => { sources.splice(place, 1); list(); });
      item.append(drop, name);
      return item;
    }));
  };
  const add = async (chosen) => {
    for (const file of chosen) {
      tell(`Reading ${file.name} …`);
      try {
        const answer = await call(`/v1/page/read?name=${encodeURIComponent(file.name)}`, file, { "content-type": "application/octet-stream" });
        sources.push(...(await answer.json()).map(({ name, text }) => ({ id: name, text })));
        tell("");
      } catch (error) {
        tell(error.message, true);
      }
    }
    list();
    files.value = "";
  };
  files.addEventListener("change", () => add(files.files));
  for (const type of ["dragover", "dragleave", "drop"]) {
    pasted.addEventListener(type, (event) => {
      event.preventDefault();
      pasted.classList.toggle("over", type === "dragover");
      if (type === "drop") {
        if (event.dataTransfer.files.length) add(event.dataTransfer.files);
        else pasted.value += event.dataTransfer.getData("text");
      }
    });
  }

  // Claims as they arrive
  const statusOf = (finding) => {
    if (finding.kind === "unverified") return "unverified";
    if (finding.label === "Attributable") return "match";
    return finding.relation === "not_found" ? "not_found" : "mismatch";
  };
  const arrive = (finding) => {
    const item = document.createElement("li");
    const sign = document.createElement("span");
    const line = document.createElement("span");
    const state = statusOf(finding);
    item.className = `row ${state}`;
    sign.className = "sign";
    sign.textContent = signs[state];
    line.className = "line";
    line.dir = "auto";
    line.textContent = finding.claim.text;
    const label = document.createElement("small");
    label.textContent = finding.label || `Unverified: ${finding.message}`;
    item.append(sign, line, label);
    arriving.append(item);
    tell(`${arriving.childElementCount} checked …`);
  };
  const events = async function* (body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const lines = rest.slice(0, end).split("\n");
        rest = rest.slice(end + 2);
        const of = (name) => lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2)).join("\n");
        if (of("event")) yield { name: of("event"), data: of("data") };
      }
    }
  };
  const draw = async (report) => {
    const answer = await call("/v1/page/draw", report, { "content-type": "application/json" });
    shown?.abort();
    shown = new AbortController();
    history.replaceState(null, "", location.pathname);
    // Made by the report's templates, which escape every text.
    result.innerHTML = await answer.text();
    vouchReport(shown.signal);
    arriving.hidden = true;
    result.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  };
  const run = async () => {
    const given = [...(pasted.value.trim() ? [{ id: "pasted text", text: pasted.value }] : []), ...sources];
    if (!said.value.trim()) return tell("Enter a text to check.", true);
    if (!given.length && !searches()) return tell("Paste a source, or add a file.", true);
    running = new AbortController();
    check.disabled = true;
    stop.hidden = false;
    result.replaceChildren();
    arriving.replaceChildren();
    arriving.hidden = false;
    tell("Checking …");
    const started = performance.now();
    try {
      const body = { response: said.value, sources: given, ...(question.value.trim() && { question: question.value }), ...(judge && { judge: judge.value }) };
      const answer = await call("/v1/check-response", JSON.stringify(body), { accept: "text/event-stream", "content-type": "application/json" });
      let ended = false;
      for await (const { name, data } of events(answer.body)) {
        if (name === "finding") arrive(JSON.parse(data));
        if (name === "problem") throw new Error(JSON.parse(data).detail);
        if (name === "end") {
          ended = true;
          await draw(data);
        }
      }
      if (!ended) throw new Error("the connection ended before the check did: check again");
      tell(`Done in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
    } catch (error) {
      tell(error.name === "AbortError" ? "Stopped." : error.message, error.name !== "AbortError");
    } finally {
      running = null;
      check.disabled = false;
      stop.hidden = true;
    }
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
  stop.addEventListener("click", () => running?.abort());
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || running) return;
    event.preventDefault();
    run();
  });
})();
