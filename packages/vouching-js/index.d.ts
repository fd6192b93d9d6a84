/** A document: its text, or an object with it. `id` is the name that findings refer to; a `url` is never fetched. */
export type Source = string | { text: string; id?: string; title?: string; url?: string };

/** A stretch of text; `end` is exclusive, and both count code points, not UTF-16 units. */
export interface Span {
  text: string;
  start: number;
  end: number;
  source_id: string | null;
}

export interface Claim {
  text: string;
  id: string;
  span: Span | null;
  context: string;
}

export interface Warning {
  kind: string;
  message: string;
  span: Span | null;
}

/** A claim that was judged. */
export interface Verdict {
  kind: "verdict";
  claim: Claim;
  label: "Attributable" | "Not Attributable";
  /** Probability that the sources support the claim, in [0, 1]. */
  score: number;
  /** Probability of the label, in [0.5, 1] at the usual threshold. */
  confidence: number;
  threshold: number;
  relation: "supported" | "contradicted" | "not_found" | "conflicting";
  evidence_alignment: { claim_span: Span; source_span: Span | null; status: "match" | "mismatch" | "not_found" }[];
  reasoning_chain: {
    claim_part: string;
    source_evidence: string;
    judgment: "supported" | "not_supported" | "partially_supported";
    explanation: string;
  }[];
  error_type: string | null;
  fix_suggestion: string | null;
  revised_claim: string | null;
  warnings: Warning[];
  [more: string]: unknown;
}

/** A claim on which the judge failed; this is no verdict, and has no label and no score. */
export interface Unverified {
  kind: "unverified";
  claim: Claim;
  label?: undefined;
  reason: string;
  message: string;
  /** What the model said last, where that could not be used. */
  reply?: string | null;
  warnings: Warning[];
  [more: string]: unknown;
}

export type Finding = Verdict | Unverified;

export interface Report {
  response: string;
  sources: { text: string; id: string; title: string; url: string }[];
  findings: Finding[];
  question: string | null;
  totals: { attributable: number; not_attributable: number; unverified: number; conflicting: number };
  score: number | null;
  revised_response: string | null;
  warnings: Warning[];
  id: string | null;
  [more: string]: unknown;
}

/** The server refused a request, failed, or is out of reach. No answer has been judged. */
export class VouchError extends Error {
  /** Status of HTTP; undefined if no answer came. */
  readonly status?: number;
  /** Class of the error at the server, such as "InputError". */
  readonly error?: string;
  /** Whether the same request may succeed later. */
  readonly canRetry: boolean;
  /** Seconds after which to try again, if the server says so. */
  readonly retryAfter?: number;
}

/** A server of `vouch serve`. Throws a VouchError for an answer that is none, and the signal's reason if aborted. */
export class Vouch {
  /**
   * @param url address of the server; http://127.0.0.1:8400 by default
   * @param options.key API key, if the server has keys
   * @param options.judge which of the server's judges to ask
   * @param options.timeout milliseconds to wait for an answer; 60,000 by default
   */
  constructor(url?: string, options?: { key?: string; judge?: string; timeout?: number });
  readonly url: string;
  /** An outcome for a claim, or a list of them for a list of claims. */
  check(claim: string, sources?: Source | Source[], options?: CheckOptions): Promise<Finding>;
  check(claim: string[], sources?: Source | Source[], options?: CheckOptions): Promise<Finding[]>;
  /** A report on a whole response, with a finding per claim; `repair` also applies the verified fixes. */
  checkResponse(response: string, sources?: Source | Source[], options?: RepairOptions): Promise<Report>;
  /** A report on each answer of a conversation, by what was known when it was given. */
  checkTrace(messages: object, options?: Omit<RepairOptions, "question">): Promise<Report[]>;
}

export interface CheckOptions {
  question?: string;
  signal?: AbortSignal;
}

export interface RepairOptions extends CheckOptions {
  /** Apply verified fixes, and say what is done with claims that have none. */
  repair?: "mark" | "remove" | "keep";
}
