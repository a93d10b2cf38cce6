/**
 * What one attempt to write produced. A write has three results, never a boolean:
 * `acknowledged`, `rejected` with a proof, or `unknown`.
 *
 * The default is `unknown`. Error codes prove nothing: a reset arrives with and without an effect.
 */
import { notBeforeOf } from './retry-after.ts';

/** What the transport saw of one POST. It reports phases, it judges nothing. */
export type WireReport =
  /** No byte of the request left: name not resolved, refused, TLS unfinished, or our own last check refused. */
  | { readonly kind: 'not_connected'; readonly detail: string }
  /** The request (or a part of it) left, and no status line came back. */
  | { readonly kind: 'sent_no_answer'; readonly how: 'closed' | 'timeout' }
  /** A status line came back. `complete` is false when the body was cut, stalled or over the size limit. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly complete: boolean;
    };

/** One word for why an attempt did not succeed. `lost`: the worker died before it could record a result. */
export type ErrorKind =
  | 'not_sent'
  | 'closed_without_answer'
  | 'timeout'
  | 'body_cut'
  | 'bad_answer'
  | 'lost'
  | `status_${number}`;

export type WriteResult =
  | {
      readonly kind: 'acknowledged';
      /** The provider's id, or null when it only said "accepted". */
      readonly externalId: string | null;
      readonly status: number;
      /** sha256 of the answer body, hex. */
      readonly answerDigest: string;
      readonly at: number;
    }
  | {
      readonly kind: 'rejected';
      readonly proof: 'not_sent' | 'refused';
      readonly code: ErrorKind;
      readonly retryable: boolean;
      /** One short allow-listed phrase; never provider text. */
      readonly detail: string;
      readonly at: number;
    }
  | {
      readonly kind: 'unknown';
      readonly code: ErrorKind;
      readonly startedAt: number;
      /** Evidence id: the token of the attempt. */
      readonly evidenceId: string;
      readonly at: number;
      /** The provider said that something of ours exists there already: evidence, whichever attempt made it. */
      readonly exists?: true;
      /** The provider asked (`Retry-After`) to be left alone until then, ms; nothing is sent again before. */
      readonly notBefore?: number;
    };

/** Whether a result says that there is an effect outside. */
export function tellsOfEffect(result: WriteResult): boolean {
  return result.kind === 'acknowledged' || (result.kind === 'unknown' && result.exists === true);
}

/** How a provider's adapter reads one complete answer whose body is JSON. */
export type Reading =
  | { readonly kind: 'acknowledged'; readonly externalId: string | null }
  /** It refuses because something of ours is there already. The id that it may tell is not trusted. */
  | { readonly kind: 'exists' }
  /** The promise lists this exact status and body shape as "not executed". */
  | { readonly kind: 'not_executed' }
  | { readonly kind: 'unrecognised' };

export type AnswerReader = (status: number, body: unknown) => Reading;

type JudgedAttempt = { readonly token: string; readonly startedAt: number; readonly at: number };

type Answered = Extract<WireReport, { kind: 'answered' }>;
type Unknown = Extract<WriteResult, { kind: 'unknown' }>;

/**
 * The one place that may turn a transport report into `rejected`, and it names the proof.
 *
 * @param parse JSON parser that throws on anything that is not one JSON value.
 * @param digest sha256 hex of the body.
 */
export function judgeWrite(
  report: WireReport,
  read: AnswerReader,
  attempt: JudgedAttempt,
  parse: (text: string) => unknown,
  digest: (text: string) => string,
): WriteResult {
  switch (report.kind) {
    case 'not_connected':
      return {
        kind: 'rejected',
        proof: 'not_sent',
        code: 'not_sent',
        retryable: true,
        detail: report.detail,
        at: attempt.at,
      };
    case 'sent_no_answer':
      return unknown(report.how === 'timeout' ? 'timeout' : 'closed_without_answer', attempt);
    case 'answered':
      return judgeAnswer(report, read, attempt, parse, digest);
  }
}

function judgeAnswer(
  answer: Answered,
  read: AnswerReader,
  attempt: JudgedAttempt,
  parse: (text: string) => unknown,
  digest: (text: string) => string,
): WriteResult {
  const success = answer.status >= 200 && answer.status < 300;
  const body = answer.complete ? parsed(answer.body, parse) : undefined;
  // A cut body without a length arrives as complete; one that does not parse is cut too.
  if (body === undefined)
    return asked(unknown(success ? 'body_cut' : `status_${answer.status}`, attempt), answer);
  const reading = read(answer.status, body.value);
  if (reading.kind === 'acknowledged' && success) {
    return {
      kind: 'acknowledged',
      externalId: reading.externalId,
      status: answer.status,
      answerDigest: digest(answer.body),
      at: attempt.at,
    };
  }
  if (reading.kind === 'not_executed') {
    return {
      kind: 'rejected',
      proof: 'refused',
      code: `status_${answer.status}`,
      retryable: false,
      detail: 'the promise lists this answer as not executed',
      at: attempt.at,
    };
  }
  const result = asked(unknown(success ? 'bad_answer' : `status_${answer.status}`, attempt), answer);
  return reading.kind === 'exists' ? { ...result, exists: true } : result;
}

function unknown(code: ErrorKind, attempt: JudgedAttempt): Unknown {
  return { kind: 'unknown', code, startedAt: attempt.startedAt, evidenceId: attempt.token, at: attempt.at };
}

function asked(result: Unknown, { status, headers }: Answered): Unknown {
  const notBefore = notBeforeOf({ status, retryAfter: headers['retry-after'] }, result.at);
  return notBefore === null ? result : { ...result, notBefore };
}

function parsed(text: string, parse: (text: string) => unknown): { value: unknown } | undefined {
  try {
    return { value: parse(text) };
  } catch {
    return undefined;
  }
}
