import type { LanguageModelMiddleware, Tool } from "ai";
import type { Finding, Report, Source, Vouch } from "./index.js";

/** `providerMetadata.vouch` of a checked answer: the report without its texts, and what it comes to. */
export interface Checked extends Partial<Omit<Report, "sources" | "response" | "id" | "findings">> {
  /**
   * "failed" if a claim is not supported, "unverified" if the judge failed on one or could not be reached, "unchecked"
   * if there is no claim, or if the model calls a tool.
   */
  outcome: "passed" | "failed" | "unverified" | "unchecked";
  findings: Finding[];
  /** Why there is no report. */
  problem?: string;
}

/** An answer was withheld: a claim is not supported ("failed"), or could not be judged ("unverified"). */
export class BlockedError extends Error {
  readonly outcome: "failed" | "unverified";
  readonly findings: Finding[];
}

export interface MiddlewareOptions {
  /** Evidence for every call; that of one call is `providerOptions: { vouch: { documents } }`. */
  documents?: Source[];
  /** Withhold an answer with a claim that is not supported; false by default. */
  block?: boolean;
  /** What a blocking middleware does with an answer that could not be judged; "block" by default. */
  unverified?: "pass" | "block";
}

/** A middleware for `wrapLanguageModel` that checks answers against documents, results of tools and marked contexts. */
export function vouchMiddleware(vouch: Vouch, options?: MiddlewareOptions): LanguageModelMiddleware;

/** What the tool returns; a label of null means that the check failed. */
export interface CheckedClaim {
  label: "Attributable" | "Not Attributable" | null;
  reasons: string[];
  relation?: string;
  fix_suggestion?: string | null;
  revised_claim?: string | null;
  /** Why the check failed. */
  reason?: string;
  message?: string;
}

/** A tool for agents that checks a claim; with `sources` the agent cannot choose what it is checked against. */
export function claimTool(vouch: Vouch, options: { sources: Source[] }): Tool<{ claim: string }, CheckedClaim>;
export function claimTool(vouch: Vouch): Tool<{ claim: string; sources: string[] }, CheckedClaim>;
