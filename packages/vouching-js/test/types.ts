/** Is compiled, not run: the package as a program in TypeScript uses it. */
import { generateText, stepCountIs, wrapLanguageModel, type LanguageModel } from "ai";
import { Vouch, VouchError, type Finding, type Report } from "vouching";
import { BlockedError, claimTool, vouchMiddleware, type Checked } from "vouching/ai";

declare const base: Parameters<typeof wrapLanguageModel>[0]["model"];
const vouch = new Vouch("http://127.0.0.1:8400", { key: "vouch_1", judge: "default", timeout: 1000 });
const middleware = vouchMiddleware(vouch, { documents: ["It opened in 1973."], block: true, unverified: "pass" });
const model: LanguageModel = wrapLanguageModel({ model: base, middleware });

export async function ask(): Promise<string> {
  const one: Finding = await vouch.check("It opened in 1973.", { id: "a", text: "It opened in 1973." });
  const many: Finding[] = await vouch.check(["It opened in 1973."], ["It opened in 1973."]);
  const report: Report = await vouch.checkResponse("It opened in 1973.", "It opened in 1973.", { repair: "mark" });
  // @ts-expect-error: a judge that failed has no score
  const score: number = one.score;
  const tools = { check: claimTool(vouch), checkAgainst: claimTool(vouch, { sources: ["It opened in 1973."] }) };
  try {
    const result = await generateText({ model, prompt: "When?", tools, stopWhen: stepCountIs(3) });
    const checked = result.providerMetadata?.vouch as Checked | undefined;
    const known = one.kind === "verdict" ? one.score : one.reason;
    return `${checked?.outcome} ${known} ${many.length} ${report.score} ${score}`;
  } catch (error) {
    if (error instanceof BlockedError) return error.findings.map((finding) => finding.claim.text).join();
    if (error instanceof VouchError) return String(error.retryAfter);
    throw error;
  }
}
