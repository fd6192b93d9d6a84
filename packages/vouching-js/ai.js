/**
 * Vouch for the AI SDK (`ai`): a middleware that checks the answers of a language model, and a tool for agents.
 *
 * The server reads the conversation as `vouch proxy` does: documents, results of tools, the system's text and a marked
 * context in a message of the user are evidence, earlier answers are none. Not supported: files and images as evidence.
 */
import { VouchError } from "./index.js";

/** An answer was withheld: a claim is not supported, or could not be judged. It has the findings. */
export class BlockedError extends Error {
  constructor(checked, cause) {
    const lacking = checked.findings.filter((one) => one.label !== "Attributable");
    const claims = lacking.map((one) => `\n- ${one.claim.text} (${one.fix_suggestion ?? one.message ?? one.relation})`);
    const why = checked.outcome === "failed" ? "states what its evidence does not support" : "could not be checked";
    super(`the answer ${why}${checked.problem ? `: ${checked.problem}` : ""}${claims.join("")}`, { cause });
    this.name = "BlockedError";
    this.outcome = checked.outcome;
    this.findings = checked.findings;
  }
}

/**
 * A middleware for `wrapLanguageModel`: the result of the check is `providerMetadata.vouch`.
 *
 * With `block`, an answer with a claim that is not supported is an error instead, and a stream releases text only after
 * the check. An answer that could not be judged is never a verdict: its outcome is "unverified", and `unverified` says
 * whether a blocking middleware withholds it.
 */
export function vouchMiddleware(vouch, { documents = [], block = false, unverified = "block" } = {}) {
  const judged = async (content, params) => {
    try {
      return { checked: await check(vouch, documents, content, params) };
    } catch (cause) {
      if (!(cause instanceof VouchError)) throw cause;
      return { checked: { outcome: "unverified", findings: [], problem: cause.message }, cause };
    }
  };
  const withheld = ({ checked, cause }) => {
    const stopping = unverified === "block" ? ["failed", "unverified"] : ["failed"];
    return block && stopping.includes(checked.outcome) ? new BlockedError(checked, cause) : undefined;
  };
  return {
    specificationVersion: "v4",
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const found = await judged(result.content, params);
      const error = withheld(found);
      if (error) throw error;
      return { ...result, providerMetadata: { ...result.providerMetadata, vouch: found.checked } };
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      const checking = checkedStream((content) => judged(content, params), withheld, block);
      return { ...rest, stream: stream.pipeThrough(checking) };
    },
  };
}

/** Passes a stream on, or holds it from its first text until the check, whose result the part "finish" has. */
function checkedStream(judged, withheld, holds) {
  const content = [];
  const held = [];
  let ended = false;
  let broken = false;
  const release = (controller) => held.splice(0).forEach((part) => controller.enqueue(part));
  const close = async (controller, finish) => {
    const found = broken && content.some(isText)
      ? { checked: { outcome: "unverified", findings: [], problem: "the stream broke off" } }
      : await judged(content);
    const error = withheld(found);
    const metadata = { ...finish?.providerMetadata, vouch: found.checked };
    if (error) {
      controller.enqueue({ type: "error", error });
      const reason = { unified: "content-filter", raw: "vouch" };
      if (finish) controller.enqueue({ ...finish, finishReason: reason, providerMetadata: metadata });
      return;
    }
    release(controller);
    if (finish) controller.enqueue({ ...finish, providerMetadata: metadata });
  };
  return new TransformStream({
    async transform(part, controller) {
      if (part.type === "text-delta") addText(content, part);
      if (part.type === "tool-call" || part.type === "tool-result") content.push(part);
      broken ||= part.type === "error";
      ended ||= part.type === "finish";
      const passes = !holds || part.type === "error" || (!held.length && !part.type.startsWith("text-"));
      if (part.type === "finish") await close(controller, part);
      else if (passes) controller.enqueue(part);
      else held.push(part);
    },
    async flush(controller) {
      broken = true;
      if (!ended) await close(controller);
    },
  });
}

function addText(content, { id, delta }) {
  const begun = content.find((part) => part.type === "text" && part.id === id);
  if (begun) begun.text += delta;
  else content.push({ type: "text", id, text: delta });
}

const isText = (part) => part.type === "text" && part.text.trim() !== "";

/** What the server finds in an answer. What a model says before it calls a tool is "unchecked", as is a non-claim. */
async function check(vouch, documents, content, { prompt, providerOptions, abortSignal }) {
  const calls = content.some((part) => part.type === "tool-call" && !part.providerExecuted);
  if (calls || !content.some(isText)) {
    return { outcome: "unchecked", findings: [] };
  }
  const messages = [...prompt.flatMap(asked), ...content.flatMap((part) => said(part, true))];
  const given = [documents, providerOptions?.vouch?.documents ?? []].flat();
  const reports = await vouch.checkTrace({ documents: given, messages }, { signal: abortSignal });
  const { sources, response, id, ...report } = reports.at(-1) ?? { findings: [] };
  return { outcome: outcomeOf(report), ...report };
}

function outcomeOf({ findings }) {
  if (findings.some((one) => one.label === "Not Attributable")) return "failed";
  if (findings.some((one) => one.kind === "unverified")) return "unverified";
  return findings.length ? "passed" : "unchecked";
}

/** A message of the prompt as chat completions have it, without earlier answers, which are no evidence. */
function asked({ role, content }) {
  if (role === "system") return [{ role, content }];
  if (role === "user") return [{ role, content: content.filter((part) => part.type === "text") }];
  return content.flatMap((part) => said(part, false));
}

function said(part, answers) {
  if (part.type === "text") return answers ? [{ role: "assistant", content: part.text }] : [];
  if (part.type === "tool-call") {
    const called = { name: part.toolName, arguments: "{}" };
    return [{ role: "assistant", tool_calls: [{ id: part.toolCallId, type: "function", function: called }] }];
  }
  if (part.type !== "tool-result" || part.preliminary) return [];
  const output = part.output ?? { type: part.isError ? "error-json" : "json", value: part.result };
  const is_error = output.type.startsWith("error") || output.type === "execution-denied";
  return [{ role: "tool", tool_call_id: part.toolCallId, name: part.toolName, content: textOf(output), is_error }];
}

function textOf({ type, value = "" }) {
  if (type === "content") return value.map((part) => part.text ?? "").join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * A tool for agents: checks a claim before the agent makes it. With `sources` the agent gives the claim alone, and
 * cannot choose what it is checked against.
 */
export function claimTool(vouch, { sources } = {}) {
  const items = { type: "string" };
  const texts = { type: "array", items, minItems: 1, description: "The texts to check it against." };
  const claim = { type: "string", description: "One statement, complete in itself." };
  return {
    description: "Check whether sources support a claim before you state it. The answer has the reasons and a fix. "
      + "A label of null means that the check failed, which says nothing about the claim.",
    inputSchema: schemaOf(sources ? { claim } : { claim, sources: texts }),
    async execute(input, { abortSignal } = {}) {
      const outcome = await vouch.check(input.claim, sources ?? input.sources, { signal: abortSignal });
      const { label = null, reasoning_chain = [], relation, fix_suggestion, revised_claim, reason, message } = outcome;
      const reasons = reasoning_chain.map((step) => step.explanation);
      return { label, reasons, relation, fix_suggestion, revised_claim, reason, message };
    },
  };
}

/** A schema of Standard JSON Schema, so that nothing is imported for it; the server validates. */
function schemaOf(properties) {
  const schema = () => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
  const jsonSchema = { input: schema, output: schema };
  return { "~standard": { version: 1, vendor: "vouching", validate: (value) => ({ value }), jsonSchema } };
}
