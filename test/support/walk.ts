/**
 * The walk that the API document describes, taken against a running stack. A value that differs from run to run
 * stands in the document as it once was: the walker learns what it is now, and asks on with that.
 */
import { Webhook } from 'standardwebhooks';
import type { Contract, Step } from './published-contract.ts';

export interface Walked {
  readonly status: number;
  /** Undefined for an answer without a body. */
  readonly answer: unknown;
  /** Where the answer is not of the published form. */
  readonly misfits: readonly string[];
  /** Headers of ours that the document does not name. */
  readonly unnamed: readonly string[];
  /** Where it says something else than the example. */
  readonly differences: readonly string[];
}

export interface WalkOptions {
  readonly contract: Contract;
  readonly url: string;
  readonly tokens: Readonly<Record<'submitter' | 'approver' | 'operator', string>>;
  /** Signs events: `whsec_<base64>`. */
  readonly secret: string;
  readonly now: () => Date;
}

/** Takes one step after the other; each needs those before it. */
export function walker(options: WalkOptions): (step: Step) => Promise<Walked> {
  const learnt = new Map<string, string>();
  const versions = new Map<string, number>();
  return async (step) => {
    const response = await ask(
      options,
      renewed(step, learnt, versions),
      renewed(bodyOf(options, step), learnt),
    );
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    const media = mediaOf(options, step.operationId, response);
    const shown = media?.examples[step.example]?.value;
    const differences = differencesOf(shown, answer, learnt);
    noteVersion(answer, versions);
    return {
      status: response.status,
      answer,
      unnamed: unnamedIn(options, step.operationId, response),
      misfits: media === undefined ? unpublished(answer) : options.contract.misfits(media, answer),
      differences: step.operationId === WHOLE_DOCUMENT ? [] : differences,
    };
  };
}

/** Its example is only its beginning. */
const WHOLE_DOCUMENT = 'openapi';

/** These say when and how often, or say it in words: only their form is compared. */
const BY_FORM: ReadonlySet<string> = new Set(['explanation', 'version', 'nextAt', 'ageMs']);

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>'],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/[0-9a-f]{32,64}/g, '<hash>'],
  [/\d{16,}/g, '<number>'],
];

/**
 * Where `real` says something else than `shown`, one line each. Texts of one shape (times, ids, hashes) count as
 * equal, and `learnt` takes what stands now for what was shown.
 */
export function differencesOf(shown: unknown, real: unknown, learnt: Map<string, string>, at = ''): string[] {
  if (typeof shown === 'string' && typeof real === 'string' && shapeOf(shown) === shapeOf(real)) {
    learnt.set(shown, real);
    return [];
  }
  if (!isObject(shown) || !isObject(real) || Array.isArray(shown) !== Array.isArray(real)) {
    return Object.is(shown, real)
      ? []
      : [`${at}: ${JSON.stringify(real)} instead of ${JSON.stringify(shown)}`];
  }
  const names = [...new Set([...Object.keys(shown), ...Object.keys(real)])].filter(
    (name) => !BY_FORM.has(name),
  );
  return names.flatMap((name) => differencesOf(shown[name], real[name], learnt, `${at}/${name}`));
}

function shapeOf(text: string): string {
  return SHAPES.reduce((left, [pattern, shape]) => left.replaceAll(pattern, shape), text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function bodyOf({ contract }: WalkOptions, { operationId, example }: Step): unknown {
  return contract.operations.get(operationId)?.body?.examples[example]?.value;
}

function mediaOf({ contract }: WalkOptions, operationId: string, response: Response) {
  const type = response.headers.get('content-type') ?? '';
  return contract.operations.get(operationId)?.answer(response.status, type);
}

/** What every answer carries, or the gateway and the server add. */
const COMMON: ReadonlySet<string> = new Set([
  ...['apigw-requestid', 'cache-control', 'connection', 'content-length', 'content-type'],
  ...['date', 'keep-alive', 'transfer-encoding', 'vary', 'www-authenticate'],
]);

function unnamedIn({ contract }: WalkOptions, operationId: string, { status, headers }: Response): string[] {
  const named = contract.operations.get(operationId)?.headers(status) ?? [];
  return [...headers.keys()].filter((name) => !COMMON.has(name) && !named.includes(name));
}

function unpublished(answer: unknown): string[] {
  return answer === undefined ? [] : ['this status has no body of this type in the document'];
}

/** Everything that was learnt put in place of what was shown; `If-Match` names the version read last. */
function renewed<T>(
  value: T,
  learnt: ReadonlyMap<string, string>,
  versions?: ReadonlyMap<string, number>,
): T {
  const swap = (name: string, each: unknown) => {
    if (name === 'If-Match' && versions !== undefined) {
      const { path } = value as Step;
      return `"${versions.get(learnt.get(path?.['id'] ?? '') ?? '')}"`;
    }
    return typeof each === 'string' ? (learnt.get(each) ?? each) : each;
  };
  return value === undefined ? value : (JSON.parse(JSON.stringify(value), swap) as T);
}

function noteVersion(answer: unknown, versions: Map<string, number>): void {
  if (!isObject(answer)) return;
  const { id, version } = answer;
  if (typeof id === 'string' && typeof version === 'number') versions.set(id, version);
}

async function ask(options: WalkOptions, step: Step, value: unknown): Promise<Response> {
  const operation = options.contract.operations.get(step.operationId);
  if (operation === undefined) throw new Error(`The document does not describe ${step.operationId}.`);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(step.path?.[name] ?? ''),
  );
  const query = step.query === undefined ? '' : `?${new URLSearchParams(step.query)}`;
  const body = value === undefined ? null : JSON.stringify(value);
  const headers = {
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...step.headers,
    ...authority(options, step, body ?? ''),
  };
  return fetch(`${options.url}${path}${query}`, { method: operation.method, headers, body });
}

function authority({ tokens, secret, now }: WalkOptions, { token, headers }: Step, body: string) {
  if (token === null) return {};
  if (token !== 'signature') return { authorization: `Bearer ${tokens[token]}` };
  const at = now();
  return {
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(headers?.['webhook-id'] ?? '', at, body),
  };
}
