/** Requests that intake refuses, each with its exact answer. The base is a request that is taken. */

export interface Refused {
  readonly title: string;
  readonly key?: string | null;
  /** Merged into the base body, or the whole text of the body. */
  readonly body?: Readonly<Record<string, unknown>> | string;
  readonly status: number;
  readonly problem: Readonly<Record<string, unknown>>;
}

export const PAYLOAD = { order_id: 'PO-37', sku: 'TEA-01', quantity: 2 };
const MEMBERS_OF_PAYLOAD = JSON.stringify(PAYLOAD).slice(1, -1);
export const BASE = { route: 'free', payload: PAYLOAD };

export const TITLES = {
  'invalid-request': [400, 'The request is not valid.'],
  'key-missing': [400, 'The Idempotency-Key header is missing.'],
  'key-malformed': [400, 'The Idempotency-Key header is malformed.'],
  'key-mismatch': [400, 'The key in the header and the key in the payload differ.'],
  'not-found': [404, 'There is no such intent.'],
  'key-conflict': [409, 'This key was used with another request.'],
  'too-large': [413, 'The request is too large.'],
  'unknown-route': [422, 'There is no such route.'],
  'acceptance-undetermined': [503, 'It is not known whether this was stored.'],
} as const;

/** Status and whole body of a problem. */
export function problemOf(name: keyof typeof TITLES, extras: object = {}) {
  const [status, title] = TITLES[name];
  return { status, problem: { type: `/problems/${name}`, title, status, ...extras } };
}

const KEY_RULE = '1 to 255 visible ASCII characters without comma, double quote, backslash, tilde and space.';
const malformed = problemOf('key-malformed', { detail: KEY_RULE });
const missing = problemOf('key-missing');
const detail = (text: string) => problemOf('invalid-request', { detail: text });
const at = (pointer: string, text: string) =>
  problemOf('invalid-request', { errors: [{ pointer, detail: text }] });

export const REFUSED_KEYS: readonly Refused[] = [
  { title: 'no key', key: null, ...missing },
  { title: 'an empty key', key: '', ...missing },
  { title: 'a blank key', key: '   ', ...missing },
  { title: 'a pair of quotes with nothing in it', key: '""', ...missing },
  { title: 'a quoted blank', key: '" "', ...malformed },
  { title: 'one quote alone', key: '"', ...malformed },
  { title: 'a quote at the start only', key: '"K-1', ...malformed },
  { title: 'two pairs of quotes', key: '""K-1""', ...malformed },
  { title: 'a quote inside', key: 'K"1', ...malformed },
  { title: '256 characters', key: 'k'.repeat(256), ...malformed },
  { title: '256 characters in quotes', key: `"${'k'.repeat(256)}"`, ...malformed },
  { title: 'a comma, as of a header sent twice', key: 'K-1,K-2', ...malformed },
  { title: 'the same key sent twice', key: 'K-1,K-1', ...malformed },
  { title: 'a tilde, which is ours', key: 'K-1~2', ...malformed },
  { title: 'a space inside', key: 'K 1', ...malformed },
  { title: 'a backslash', key: 'K\\1', ...malformed },
  { title: 'a tabulator', key: 'K\t1', ...malformed },
  { title: 'a line feed', key: 'K\n1', ...malformed },
  { title: 'a NUL', key: 'K\u00001', ...malformed },
  { title: 'a DEL', key: 'K\u007f1', ...malformed },
  { title: 'a letter beyond ASCII', key: 'Käse', ...malformed },
  { title: 'a full-width digit', key: 'K-１', ...malformed },
  { title: 'a no-break space around it', key: '\u00a0K-1', ...malformed },
  { title: 'a byte order mark before it', key: '\ufeffK-1', ...malformed },
];

const NOT_JSON = detail('The body is not one JSON value.');
const INEXACT = detail('A number in the body cannot be kept exactly; send it as a string.');
const TWICE = detail('An object in the body names a member twice.');
const HALF = 'in the body holds half a character (a lone surrogate) at position 0.';

export const REFUSED_JSON: readonly Refused[] = [
  { title: 'no body', body: '', ...NOT_JSON },
  { title: 'half an object', body: '{"route":"free"', ...NOT_JSON },
  { title: 'two values', body: '{} {}', ...NOT_JSON },
  { title: 'a comma at the end', body: withPayload('"quantity":2,'), ...NOT_JSON },
  { title: 'NaN', body: withPayload('"quantity":NaN'), ...NOT_JSON },
  { title: 'Infinity', body: withPayload('"quantity":Infinity'), ...NOT_JSON },
  { title: 'a byte order mark', body: `\ufeff${JSON.stringify(BASE)}`, ...NOT_JSON },
  { title: 'a member named twice', body: withPayload('"quantity":2,"quantity":3'), ...TWICE },
  { title: 'a member named twice alike', body: withPayload('"quantity":2,"quantity":2'), ...TWICE },
  { title: 'the route named twice', body: '{"route":"free","route":"keyed"}', ...TWICE },
  { title: 'the same name in two spellings', body: withPayload('"quantity":2,"quantit\\u0079":3'), ...TWICE },
  { title: '1e400', body: withPayload('"quantity":1e400'), ...INEXACT },
  { title: 'an integer of 19 digits', body: withPayload('"quantity":4611686018427387905'), ...INEXACT },
  {
    title: 'an integer one beyond what is exact',
    body: withPayload('"quantity":9007199254740992'),
    ...INEXACT,
  },
  { title: 'a fraction of 20 digits', body: withPayload('"quantity":0.12345678901234567891'), ...INEXACT },
  {
    title: 'a lone surrogate',
    body: withPayload('"sku":"\\ud83c"'),
    ...at('/payload/sku', `A string ${HALF}`),
  },
  {
    title: 'a lone surrogate in a name',
    body: withPayload('"\\udf75":1'),
    ...at('/payload', `A member name ${HALF}`),
  },
];

const EXTRA = at('/payload', 'Unrecognized key: "x"');
const DEEPER = detail('The body is nested deeper than 16.');
const MEMBERS = detail('The body has more than 500 members.');
const LONG = detail('A string in the body is longer than 32768.');

/** Depth and members count from the body on: it is 1 deep, and `route`, `payload` and four members of that make 6. */
export const LIMITS: readonly Refused[] = [
  { title: '16 deep passes the limit', body: withExtra(nested(14)), ...EXTRA },
  { title: '17 deep', body: withExtra(nested(15)), ...DEEPER },
  { title: '500 members pass the limit', body: withExtra(list(494)), ...EXTRA },
  { title: '501 members', body: withExtra(list(495)), ...MEMBERS },
  { title: 'a string of 32 768 passes the limit', body: withExtra(`"${'s'.repeat(32_768)}"`), ...EXTRA },
  { title: 'a string of 32 769', body: withExtra(`"${'s'.repeat(32_769)}"`), ...LONG },
  { title: 'a name of 32 769', body: withPayload(`"${'n'.repeat(32_769)}":1`), ...LONG },
  { title: 'a body of 65 537 bytes', body: padded(65_537), ...tooLarge() },
  { title: 'a body of 65 537 bytes in fewer characters', body: padded(65_537, 'ä'), ...tooLarge() },
  { title: 'a body of 65 537 bytes that is not JSON', body: 'x'.repeat(65_537), ...tooLarge() },
];

const NO_STRING = 'Invalid input: expected string, received';
const UNKNOWN_ROUTE = problemOf('unknown-route');

export const REFUSED_FIELDS: readonly Refused[] = [
  { title: 'null', body: 'null', ...at('', 'Invalid input: expected object, received null') },
  { title: 'a list', body: '[]', ...at('', 'Invalid input: expected object, received array') },
  { title: 'no route', body: { route: undefined }, ...at('/route', `${NO_STRING} undefined`) },
  { title: 'a number as route', body: { route: 5 }, ...at('/route', `${NO_STRING} number`) },
  {
    title: 'an empty route',
    body: { route: '' },
    ...at('/route', 'Too small: expected string to have >=1 characters'),
  },
  {
    title: 'a route of 65 characters',
    body: { route: 'r'.repeat(65) },
    ...at('/route', 'Too big: expected string to have <=64 characters'),
  },
  { title: 'a route that is not there', body: { route: 'nowhere' }, ...UNKNOWN_ROUTE },
  { title: "another tenant's route", body: { route: 'umbra-free' }, ...UNKNOWN_ROUTE },
  { title: 'a route called as a property of every object', body: { route: '__proto__' }, ...UNKNOWN_ROUTE },
  {
    title: 'no payload',
    body: { payload: undefined },
    ...at('/payload', 'Invalid input: expected record, received undefined'),
  },
  {
    title: 'null as payload',
    body: { payload: null },
    ...at('/payload', 'Invalid input: expected record, received null'),
  },
  {
    title: 'a list as payload',
    body: { payload: [PAYLOAD] },
    ...at('/payload', 'Invalid input: expected record, received array'),
  },
  { title: 'a key in the body', body: JSON.stringify({ ...BASE, key: 'K-2' }), ...at('', 'Unknown: key') },
  {
    title: 'the same key in the body',
    key: 'K-1',
    body: JSON.stringify({ ...BASE, key: 'K-1' }),
    ...at('', 'Unknown: key'),
  },
  { title: 'a tenant in the body', body: { tenant: 'umbra' }, ...at('', 'Unknown: tenant') },
  { title: 'two unknown fields', body: { unit: 'x', state: 'confirmed' }, ...at('', 'Unknown: unit, state') },
  {
    title: 'a prototype in the body',
    body: `{"route":"free","payload":${JSON.stringify(PAYLOAD)},"__proto__":{}}`,
    ...prototype(),
  },
  {
    title: 'a prototype in the payload',
    body: withPayload(`${MEMBERS_OF_PAYLOAD},"__proto__":{"quantity":3}`),
    ...prototype(),
  },
  {
    title: 'a quantity as text',
    body: ordering({ quantity: '2' }),
    ...at('/payload/quantity', 'Invalid input: expected number, received string'),
  },
  {
    title: 'a quantity of 0',
    body: ordering({ quantity: 0 }),
    ...at('/payload/quantity', 'Too small: expected number to be >=1'),
  },
  {
    title: 'half a piece',
    body: ordering({ quantity: 1.5 }),
    ...at('/payload/quantity', 'Invalid input: expected int, received number'),
  },
  {
    title: 'a quantity over the limit',
    body: ordering({ quantity: 1_000_001 }),
    ...at('/payload/quantity', 'Too big: expected number to be <=1000000'),
  },
  { title: 'no sku', body: ordering({ sku: undefined }), ...at('/payload/sku', `${NO_STRING} undefined`) },
  {
    title: 'a blank in the order number',
    body: ordering({ order_id: 'PO 37' }),
    ...at('/payload/order_id', 'letters, digits and "-", 1 to 64'),
  },
  {
    title: 'another order number than the key',
    body: { route: 'keyed' },
    ...problemOf('key-mismatch', { detail: 'The key must equal payload field order_id.' }),
  },
  {
    title: 'the key in another case',
    key: 'po-37',
    body: { route: 'keyed' },
    ...problemOf('key-mismatch', { detail: 'The key must equal payload field order_id.' }),
  },
  {
    title: 'a parent where there can be none',
    body: { parent: 'PO-36' },
    ...at('/parent', 'This route takes no parent.'),
  },
  {
    title: 'an empty parent',
    body: { parent: '' },
    ...at('/parent', 'Too small: expected string to have >=1 characters'),
  },
  ...['tomorrow', '2026-11-30', '2026-11-30T09:00:00', '2026-02-30T09:00:00Z', ''].flatMap((text) => [
    { title: `plannedAt "${text}"`, body: { plannedAt: text }, ...at('/plannedAt', 'Invalid ISO datetime') },
    { title: `sendBy "${text}"`, body: { sendBy: text }, ...at('/sendBy', 'Invalid ISO datetime') },
  ]),
  { title: 'plannedAt in milliseconds', body: { plannedAt: 1 }, ...at('/plannedAt', `${NO_STRING} number`) },
  { title: 'sendBy in the past', body: { sendBy: '2020-01-01T00:00:00Z' }, ...tooSoon() },
  {
    title: 'sendBy before plannedAt',
    body: { plannedAt: '2090-01-01T00:00:01Z', sendBy: '2090-01-01T00:00:00Z' },
    ...tooSoon(),
  },
  {
    title: 'sendBy at plannedAt, told in two zones',
    body: { plannedAt: '2090-01-01T01:00:00+01:00', sendBy: '2090-01-01T00:00:00Z' },
    ...tooSoon(),
  },
  {
    title: 'an empty trace id',
    body: { traceIds: { call: '' } },
    ...at('/traceIds/call', 'Too small: expected string to have >=1 characters'),
  },
  {
    title: 'a trace id of 129 characters',
    body: { traceIds: { worker: 't'.repeat(129) } },
    ...at('/traceIds/worker', 'Too big: expected string to have <=128 characters'),
  },
  {
    title: 'an unknown trace id',
    body: { traceIds: { session: 's' } },
    ...at('/traceIds', 'Unknown: session'),
  },
  {
    title: 'a list of trace ids',
    body: { traceIds: ['t'] },
    ...at('/traceIds', 'Invalid input: expected object, received array'),
  },
];

function prototype() {
  return detail('An object in the body names a member "__proto__".');
}

function tooSoon() {
  return at('/sendBy', 'sendBy must lie after now and after plannedAt.');
}

function ordering(change: Readonly<Record<string, unknown>>) {
  return { payload: { ...PAYLOAD, ...change } };
}

function tooLarge() {
  return problemOf('too-large', { detail: 'The body may have 65536 bytes.' });
}

/** A body that fails for one reason only: a payload with one unknown member. */
function withExtra(value: string): string {
  return withPayload(`${MEMBERS_OF_PAYLOAD},"x":${value}`);
}

/** A body whose payload is `members`. */
function withPayload(members: string): string {
  return `{"route":"free","payload":{${members}}}`;
}

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

function list(length: number): string {
  return JSON.stringify(Array.from({ length }, () => 0));
}

/** A body of exactly `bytes` bytes; one that is taken when `filler` is white space. */
export function padded(bytes: number, filler = ' '): string {
  const text = JSON.stringify(BASE);
  const room = bytes - Buffer.byteLength(text);
  const size = Buffer.byteLength(filler);
  return `${text}${filler.repeat(Math.floor(room / size))}${' '.repeat(room % size)}`;
}
