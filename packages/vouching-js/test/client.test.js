import assert from "node:assert/strict";
import { test } from "node:test";
import { Vouch, VouchError } from "vouching";
import { BRIDGE, URL, broken, nowhere, vouch } from "./server.js";

test("a verdict has its reasons and a fix", async () => {
  const verdict = await vouch.check("The bridge opened in 1937.", BRIDGE);
  assert.equal(verdict.label, "Not Attributable");
  assert.equal(verdict.fix_suggestion, "Change 1937 to 1973.");
  assert.equal(verdict.evidence_alignment.at(-1).source_span.source_id, "bridge.txt");
});

test("a list of claims is answered by a list", async () => {
  const outcomes = await vouch.check(["It opened in 1973.", "It opened in 1937."], [BRIDGE]);
  assert.deepEqual(outcomes.map((one) => one.label), ["Attributable", "Not Attributable"]);
});

test("a response is repaired", async () => {
  const response = "The bridge opened in 1937. It has two towers.";
  const report = await vouch.checkResponse(response, [BRIDGE], { repair: "mark" });
  assert.equal(report.revised_response, "The bridge opened in 1973. It has two towers.");
  assert.deepEqual([report.totals.attributable, report.totals.not_attributable], [1, 1]);
});

test("a judge that fails gives no label and no score", async () => {
  const outcome = await broken.check("The bridge opened in 1937.", BRIDGE);
  assert.equal(outcome.kind, "unverified");
  assert.equal(outcome.label, undefined);
  assert.equal(outcome.score, undefined);
});

test("an error of the server says what to do, and whether to retry", async () => {
  await assert.rejects(vouch.check("The bridge opened in 1937."), (error) => {
    assert.ok(error instanceof VouchError);
    assert.deepEqual([error.status, error.error, error.canRetry], [422, "InputError", false]);
    return error.message.includes("no source was given");
  });
});

test("a server that is out of reach is no answer", async () => {
  await assert.rejects(nowhere.check("It opened.", BRIDGE), /does not answer \(.+\): check that vouch serve/);
  assert.throws(() => new Vouch("localhost:8400"), /expected the address of a server/);
});

test("a request ends at its timeout, and when its signal is aborted", async () => {
  await assert.rejects(new Vouch(URL, { timeout: 1 }).check("It opened.", BRIDGE), /nothing within 0.001 s/);
  const signal = AbortSignal.abort(new Error("the user left"));
  await assert.rejects(vouch.check("It opened.", BRIDGE, { signal }), /^Error: the user left$/);
});
