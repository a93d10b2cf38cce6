/** Text that is no text: refused at the door with its place, whatever the field, the provider and the endpoint. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type ApiRig, startApiRig } from '../support/api-rig.ts';
import { problemOf } from './refused-requests.ts';

let rig: ApiRig;
let count = 0;
beforeAll(async () => {
  rig = await startApiRig();
});
afterAll(async () => {
  await rig?.stop();
});

const ORDER = { order_id: 'PO-37', sku: 'TEA-01', quantity: 2 };
const POST = { text: 'Tea is served.', visibility: 'public' };
const RECORD = { text: 'Tea is served.', created_at: '2026-11-30T09:00:00.000Z' };
const AT = 'at://did:plc:abcdefghijklmnopqrstuvwx/app.bsky.feed.post/3mzzzzz222222';
const REF = { uri: AT, cid: `bafyrei${'a'.repeat(52)}` };
const IMAGE = { cid: `bafkrei${'a'.repeat(52)}`, mime_type: 'image/png', size: 70, alt: 'a dot' };
/** Stands in a body for what is no text. */
const HERE = '<here>';

async function submit(body: string, base64 = false): Promise<Answer> {
  count += 1;
  const headers = { 'idempotency-key': `text-${count}` };
  return rig.call('accept', { headers, body, base64 });
}

async function refused(answer: Answer, problem: object): Promise<void> {
  expect({ status: answer.status, problem: answer.json }).toEqual(problemOf('invalid-request', problem));
  expect(await rig.rows(), 'nothing is stored').toEqual([]);
  expect(rig.starts, 'nothing is started').toEqual([]);
}

const halfAt = (pointer: string, position: number, what = 'A string') => ({
  errors: [
    {
      pointer,
      detail: `${what} in the body holds half a character (a lone surrogate) at position ${position}.`,
    },
  ],
});

const FIELDS: readonly (readonly [pointer: string, body: object])[] = [
  ['/route', { route: HERE, payload: ORDER }],
  ['/parent', { route: 'posts', payload: POST, parent: HERE }],
  ['/plannedAt', { route: 'free', payload: ORDER, plannedAt: HERE }],
  ['/corrects', { route: 'free', payload: ORDER, corrects: HERE }],
  ['/traceIds/call', { route: 'free', payload: ORDER, traceIds: { call: HERE } }],
  ['/traceIds/worker', { route: 'bluesky', payload: RECORD, traceIds: { worker: HERE } }],
  // biome-ignore lint/suspicious/noThenProperty: the name on the wire; data, never awaited.
  ['/then/payload/sku', { route: 'free', payload: ORDER, then: { route: 'free', payload: { sku: HERE } } }],
  ['/payload/order_id', { route: 'free', payload: { ...ORDER, order_id: HERE } }],
  ['/payload/sku', { route: 'free', payload: { ...ORDER, sku: HERE } }],
  ['/payload/text', { route: 'posts', payload: { ...POST, text: HERE } }],
  ['/payload/visibility', { route: 'posts', payload: { ...POST, visibility: HERE } }],
  ['/payload/media/0/media_id', { route: 'posts', payload: { ...POST, media: [{ media_id: HERE }] } }],
  ['/payload/text', { route: 'bluesky', payload: { ...RECORD, text: HERE } }],
  ['/payload/langs/1', { route: 'bluesky', payload: { ...RECORD, langs: ['en', HERE] } }],
  ['/payload/images/0/alt', { route: 'bluesky', payload: { ...RECORD, images: [{ ...IMAGE, alt: HERE }] } }],
  ['/payload/reply/root/uri', { route: 'bluesky', payload: { ...RECORD, reply: { root: { uri: HERE } } } }],
  ['/payload/no~1such~0field/2', { route: 'free', payload: { ...ORDER, 'no/such~field': [1, 2, HERE] } }],
  ['/unknown', { route: 'free', payload: ORDER, unknown: HERE }],
];

const HALVES = [
  { what: 'a first half', written: 'Tea \\ud800', position: 4 },
  { what: 'a second half', written: '\\udf75 tea', position: 0 },
  { what: 'two halves in the wrong order', written: 'T\\udf75\\ud83c', position: 1 },
  { what: 'a half after a whole one', written: '👀\\uD83D', position: 2 },
];

describe.each(HALVES)('$what', ({ written, position }) => {
  test.each(FIELDS)('in %s is refused with its place', async (pointer, body) => {
    const text = JSON.stringify(body).replace(HERE, written);
    expect(text).toContain(written);
    await refused(await submit(text), halfAt(pointer, position));
  });
});

test.each([
  ['', { route: 'free', payload: ORDER, [HERE]: 1 }],
  ['/payload', { route: 'posts', payload: { ...POST, [HERE]: 1 } }],
  ['/payload/reply', { route: 'bluesky', payload: { ...RECORD, reply: { [HERE]: REF } } }],
  ['/traceIds', { route: 'free', payload: ORDER, traceIds: { [HERE]: 'x' } }],
])('half a character in a member name below "%s" is refused', async (pointer, body) => {
  const text = JSON.stringify(body).replace(HERE, 'a\\udfff');
  await refused(await submit(text), halfAt(pointer, 1, 'A member name'));
});

test('a place that is too long to be told is told by what holds it', async () => {
  const text = JSON.stringify({ route: 'free', payload: { ['n'.repeat(600)]: HERE } }).replace(
    HERE,
    '\\ud800',
  );
  await refused(await submit(text), halfAt('/payload', 0));
});

const NOT_UTF8 = [
  { what: 'half a character in bytes', bytes: [0xed, 0xa0, 0x80] },
  { what: 'a byte that is none', bytes: [0xff] },
  { what: 'a character cut short', bytes: [0xf0, 0x9f, 0x91] },
  { what: 'a longer spelling than needed', bytes: [0xc0, 0xaf] },
];

describe.each(NOT_UTF8)('$what', ({ bytes }) => {
  const [before = '', after = ''] = JSON.stringify({
    route: 'posts',
    payload: { ...POST, text: HERE },
  }).split(HERE);
  const raw = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);

  test('is refused where the gateway hands on text', async () => {
    const detail = `The body is not UTF-8 at position ${before.length}; the character U+FFFD itself is written \\ufffd.`;
    await refused(await submit(raw.toString('utf8')), { detail });
  });

  test('is refused where the gateway hands on bytes', async () => {
    await refused(await submit(raw.toString('base64'), true), { detail: 'The body is not UTF-8.' });
  });
});

test.each([
  ['freeze', { path: { route: 'free' } }, '/why', { why: HERE }],
  ['freeze-all', {}, '/why', { why: HERE }],
])('%s refuses half a character in a reason', async (name, call, pointer, body) => {
  const text = JSON.stringify(body).replace(HERE, 'x\\ud800');
  const claims = { sub: 'ann', tenant: 'acme', unit: 'sales', kind: 'person' };
  await refused(await rig.call(name, { ...call, claims, body: text }), halfAt(pointer, 1));
});

test.each([
  ['a reply without a parent', { payload: { ...RECORD, reply: { parent: REF, root: REF } } }],
  ['a parent without a reply', { payload: RECORD, parent: AT }],
  [
    'a reply to another post',
    { payload: { ...RECORD, reply: { parent: REF, root: REF } }, parent: `${AT}3` },
  ],
])('%s is refused in words that say what to do', async (_, body) => {
  const detail = 'Cannot post: parent must equal reply.parent.uri, and both are left out of a post.';
  const answer = await submit(JSON.stringify({ route: 'bluesky', ...body }));
  await refused(answer, { errors: [{ pointer: '/parent', detail }] });
});

test('whole characters are taken however they are written, the replacement character as its escape', async () => {
  const text = JSON.stringify({ route: 'posts', payload: { ...POST, text: `👀 ${HERE}` } });
  const answer = await submit(text.replace(HERE, '\\ud83d\\udc40 \\ufffd'));
  expect(answer.status).toBe(202);
  const stored = (await rig.rows()).map((row) => JSON.stringify(row)).join();
  expect(stored).toContain('👀 👀 \ufffd');
});
