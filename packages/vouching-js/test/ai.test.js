import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import { BlockedError, claimTool, vouchMiddleware } from "vouching/ai";
import { BRIDGE, broken, nowhere, vouch } from "./server.js";

const RIGHT = "The bridge opened in 1973.";
const WRONG = "The bridge opened in 1937.";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const NOTHING = jsonSchema({ type: "object", properties: {} });
const STOP = { unified: "stop", raw: "stop" };
const CALLS = { unified: "tool-calls", raw: "tool_calls" };

function generated(...answers) {
  const reason = (content) => (content.at(-1).type === "text" ? STOP : CALLS);
  const results = answers.map((content) => ({ content, finishReason: reason(content), usage, warnings: [] }));
  return new MockLanguageModelV4({ doGenerate: results });
}

function streamed(parts) {
  return new MockLanguageModelV4({ doStream: { stream: convertArrayToReadableStream(parts) } });
}

const text = (said) => [{ type: "text", text: said }];
const written = (...deltas) => [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
  { type: "finish", finishReason: STOP, usage },
];
const guarded = (model, options, client = vouch) =>
  wrapLanguageModel({ model, middleware: vouchMiddleware(client, { documents: [BRIDGE], ...options }) });
const ask = (model, more) => generateText({ model, prompt: "When did it open?", maxRetries: 0, ...more });

/** What a stream gives: its text, its errors, and the metadata of the check. */
async function read(model, more) {
  const errors = [];
  const onError = ({ error }) => errors.push(error);
  const result = streamText({ model, prompt: "When did it open?", onError, ...more });
  const kinds = [];
  let said = "";
  for await (const part of result.fullStream) {
    kinds.push(part.type);
    if (part.type === "text-delta") said += part.text;
  }
  const steps = await result.steps.then((all) => all, () => []);
  return { said, errors, kinds, vouch: steps.at(-1)?.providerMetadata?.vouch, reason: steps.at(-1)?.finishReason };
}

test("the findings are in the metadata of an answer, which keeps its text", async () => {
  const result = await ask(guarded(generated(text(`${WRONG} It has two towers.`))));
  const { vouch: checked } = result.providerMetadata;
  assert.equal(result.text, `${WRONG} It has two towers.`);
  assert.equal(checked.outcome, "failed");
  assert.deepEqual(checked.findings.map((one) => one.label), ["Not Attributable", "Attributable"]);
  assert.equal(checked.findings[0].fix_suggestion, "Change 1937 to 1973.");
  assert.equal(checked.question, "When did it open?");
  assert.equal(JSON.stringify(checked).includes('"response"'), false);
});

test("what is supported passes, also where answers are blocked", async () => {
  const result = await ask(guarded(generated(text(RIGHT)), { block: true }));
  assert.equal(result.providerMetadata.vouch.outcome, "passed");
  assert.equal(result.text, RIGHT);
});

test("a blocked answer is an error that has the findings", async () => {
  await assert.rejects(ask(guarded(generated(text(WRONG)), { block: true })), (error) => {
    assert.ok(error instanceof BlockedError);
    assert.deepEqual([error.outcome, error.findings.length], ["failed", 1]);
    return error.message.includes("Change 1937 to 1973.");
  });
});

test("documents of one call are evidence, too", async () => {
  const model = guarded(generated(text(RIGHT), text(RIGHT)), { documents: [] });
  const given = { providerOptions: { vouch: { documents: [BRIDGE] } } };
  assert.equal((await ask(model, given)).providerMetadata.vouch.outcome, "passed");
  assert.equal((await ask(model)).providerMetadata.vouch.outcome, "unverified");
});

test("an answer without a claim is unchecked, and passes", async () => {
  const result = await ask(guarded(generated(text("Hello!")), { block: true }));
  assert.equal(result.providerMetadata.vouch.outcome, "unchecked");
});

for (const [name, client] of [["fails", broken], ["is out of reach", nowhere]]) {
  test(`a judge that ${name} gives no verdict`, async () => {
    const { vouch: checked } = (await ask(guarded(generated(text(RIGHT)), {}, client))).providerMetadata;
    assert.equal(checked.outcome, "unverified");
    assert.deepEqual(checked.findings.filter((one) => one.label), []);
    const blocking = guarded(generated(text(RIGHT)), { block: true }, client);
    await assert.rejects(ask(blocking), (error) => error instanceof BlockedError && error.outcome === "unverified");
    const passing = guarded(generated(text(RIGHT)), { block: true, unverified: "pass" }, client);
    assert.equal((await ask(passing)).text, RIGHT);
  });
}

test("results of tools are evidence for the answer, and name it", async () => {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "search", input: "{}" };
  const search = tool({ inputSchema: NOTHING, execute: () => BRIDGE.text });
  const model = guarded(generated([...text(WRONG), call], text(RIGHT)), { documents: [], block: true });
  const result = await ask(model, { tools: { search }, stopWhen: stepCountIs(2) });
  const [first, last] = result.steps.map((step) => step.providerMetadata.vouch);
  assert.equal(first.outcome, "unchecked");
  assert.equal(last.outcome, "passed");
  assert.equal(last.findings[0].evidence_alignment[0].source_span.source_id, "call_1 (search)");
});

test("a tool that failed is no evidence, nor is an earlier answer", async () => {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "search", input: {} };
  const output = { type: "error-text", value: RIGHT };
  const messages = [
    { role: "user", content: "When did it open?" },
    { role: "assistant", content: [{ type: "text", text: RIGHT }] },
    { role: "assistant", content: [call] },
    { role: "tool", content: [{ ...call, type: "tool-result", output }] },
  ];
  const model = guarded(generated(text(RIGHT)), { documents: [] });
  const { vouch: checked } = (await generateText({ model, messages })).providerMetadata;
  assert.deepEqual([checked.outcome, checked.findings[0].reason], ["unverified", "no_evidence"]);
});

test("JSON, parts, and results of the provider's own tools are evidence", async () => {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "search", input: {} };
  const own = { ...call, input: "{}", providerExecuted: true };
  const fields = { bridge: { opened: 1973 } };
  for (const output of [{ type: "json", value: fields }, { type: "content", value: text(RIGHT) }]) {
    const messages = [
      { role: "user", content: "When did it open?" },
      { role: "assistant", content: [call] },
      { role: "tool", content: [{ ...call, type: "tool-result", output }] },
    ];
    const result = await generateText({ model: guarded(generated(text(RIGHT)), { documents: [] }), messages });
    assert.equal(result.providerMetadata.vouch.outcome, "passed");
  }
  const answer = [own, { ...own, type: "tool-result", result: RIGHT }, ...text(RIGHT)];
  const result = await ask(guarded(generated(answer), { documents: [] }));
  assert.equal(result.providerMetadata.vouch.outcome, "passed");
});

test("a stream passes on as it is written, and ends with the findings", async () => {
  const found = await read(guarded(streamed(written("The bridge opened ", "in 1937."))));
  assert.equal(found.said, WRONG);
  assert.equal(found.kinds.filter((kind) => kind === "text-delta").length, 2);
  assert.equal(found.vouch.outcome, "failed");
  assert.deepEqual(found.errors, []);
});

test("a blocking stream gives its text after the check only", async () => {
  const found = await read(guarded(streamed(written("The bridge opened ", "in 1973.")), { block: true }));
  assert.deepEqual([found.said, found.vouch.outcome, found.reason], [RIGHT, "passed", "stop"]);
});

test("no text of a blocked stream is released", async () => {
  const found = await read(guarded(streamed(written("The bridge opened ", "in 1937.")), { block: true }));
  assert.equal(found.said, "");
  assert.ok(found.errors[0] instanceof BlockedError);
  assert.equal(found.errors[0].findings[0].revised_claim, RIGHT);
  assert.deepEqual([found.vouch.outcome, found.reason], ["failed", "content-filter"]);
});

test("a stream that breaks off is not verified", async () => {
  const parts = written("The bridge opened in 1973.").slice(0, 3);
  assert.equal((await read(guarded(streamed(parts)))).said, RIGHT);
  const found = await read(guarded(streamed(parts), { block: true }));
  assert.equal(found.said, "");
  assert.match(found.errors[0].message, /could not be checked: the stream broke off/);
  const failed = [...parts, { type: "error", error: new Error("overloaded") }, written().at(-1)];
  assert.equal((await read(guarded(streamed(failed)))).vouch.outcome, "unverified");
});

test("calls of tools pass through a blocking stream, with the text before them", async () => {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "search", input: "{}" };
  const parts = written("Let me look.").toSpliced(-1, 1, call, { type: "finish", finishReason: CALLS, usage });
  const tools = { search: tool({ inputSchema: NOTHING }) };
  const found = await read(guarded(streamed(parts), { block: true }), { tools });
  assert.deepEqual([found.said, found.vouch.outcome], ["Let me look.", "unchecked"]);
  assert.ok(found.kinds.includes("tool-call"));
});

/** The result of the first call that a model makes of the tool. */
async function called(checkClaim, input) {
  const call = { type: "tool-call", toolCallId: "call_1", toolName: "checkClaim", input: JSON.stringify(input) };
  const model = generated([call]);
  const result = await ask(model, { tools: { checkClaim } });
  return { model, ...result.content.find((part) => part.type !== "tool-call") };
}

test("an agent checks a claim against the sources that it gives", async () => {
  const { output } = await called(claimTool(vouch), { claim: WRONG, sources: [BRIDGE.text] });
  assert.deepEqual([output.label, output.revised_claim], ["Not Attributable", RIGHT]);
  assert.match(output.reasons.at(-1), /1937.*1973/);
});

test("where the sources are given, the agent cannot choose them", async () => {
  const { output, model } = await called(claimTool(vouch, { sources: [BRIDGE] }), { claim: WRONG, sources: [WRONG] });
  assert.equal(output.label, "Not Attributable");
  const [offered] = model.doGenerateCalls[0].tools;
  assert.deepEqual(Object.keys(offered.inputSchema.properties), ["claim"]);
});

test("a failed check has no label, and a call without a claim is an error", async () => {
  const { output } = await called(claimTool(broken), { claim: RIGHT, sources: [BRIDGE.text] });
  assert.equal(output.label, null);
  assert.ok(output.reason && output.message);
  assert.match(String((await called(claimTool(vouch), { sources: [] })).error), /claim is missing/);
});
