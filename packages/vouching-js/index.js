/** A client of `vouch serve`. Records are those of the server's /openapi.json, with its names. */

/** The server refused a request, failed, or is out of reach. No answer has been judged. */
export class VouchError extends Error {
  constructor(message, { status, error, canRetry = false, retryAfter, cause } = {}) {
    super(message, { cause });
    this.name = "VouchError";
    /** Status of HTTP; undefined if no answer came. */
    this.status = status;
    /** Class of the error at the server, such as "InputError". */
    this.error = error;
    /** Whether the same request may succeed later. */
    this.canRetry = canRetry;
    /** Seconds after which to try again, if the server says so. */
    this.retryAfter = retryAfter;
  }
}

/** A server of `vouch serve`. */
export class Vouch {
  constructor(url = "http://127.0.0.1:8400", { key, judge, timeout = 60_000 } = {}) {
    if (!/^https?:\/\//.test(url)) {
      throw new VouchError(`expected the address of a server, such as http://127.0.0.1:8400, got "${url}"`);
    }
    this.url = url.replace(/\/+$/, "");
    this.judge = judge;
    this.timeout = timeout;
    this.headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  }

  /** An outcome for a claim, or a list of them for a list of claims: a verdict, or that the judge failed. */
  async check(claim, sources, { question, signal } = {}) {
    return this.#ask("/v1/check", { claim, sources, question }, signal);
  }

  /** A report on a whole response, with a finding per claim; `repair` also applies the verified fixes. */
  async checkResponse(response, sources, { question, repair, signal } = {}) {
    return this.#ask("/v1/check-response", { response, sources, question, repair }, signal);
  }

  /** A report on each answer of a conversation, by what was known when it was given. */
  async checkTrace(messages, { repair, signal } = {}) {
    return this.#ask("/v1/check-trace", { messages, repair }, signal);
  }

  async #ask(path, fields, signal) {
    const limit = AbortSignal.timeout(this.timeout);
    const body = JSON.stringify({ ...fields, judge: this.judge });
    let answer, text;
    try {
      answer = await fetch(this.url + path, {
        method: "POST",
        headers: this.headers,
        body,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      text = await answer.text();
    } catch (cause) {
      signal?.throwIfAborted();
      const words = limit.aborted ? `nothing within ${this.timeout / 1000} s` : (cause.cause?.message ?? cause.message);
      throw new VouchError(`the server at ${this.url} does not answer (${words}): check that vouch serve is running`, {
        canRetry: true,
        cause,
      });
    }
    const read = parsed(text);
    if (answer.ok && read !== undefined) return read;
    const strange = `expected JSON from ${this.url}${path}, got status ${answer.status} and other text`;
    throw new VouchError(read?.detail ?? strange, {
      status: answer.status,
      error: read?.error,
      canRetry: read?.can_retry ?? false,
      retryAfter: read?.retry_after ?? undefined,
    });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
