/** What is one post and what is another when it is asked for twice, and ids of posts that no double can hold. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/domain/intent.ts';
import { BadJson, parseJson, REQUEST_LIMITS } from '../../lib/platform/json.ts';
import { bluesky } from '../../lib/providers/bluesky.ts';
import { medium } from '../../lib/providers/medium.ts';
import { routeTo } from '../support/kit.ts';
import type { MediumPlay } from '../support/medium-plays.ts';
import { OUR_ID } from '../support/medium-scripted.ts';
import { OTHER_ID } from '../support/medium-view.ts';
import { mediumWorld, TEXT } from '../support/medium-world.ts';
import { world } from '../support/world.ts';

const BASE_URL = 'http://127.0.0.1:4';
const HASH = 'a'.repeat(64);
const OTHER_HASH = 'b'.repeat(64);

/** Both ways to post; nobody is there to be sent to. */
function desk() {
  const route = { keyField: null, publicHosts: ['127.0.0.1:4'] };
  return world({
    beside: () => ({
      baseUrl: BASE_URL,
      routes: [
        routeTo(BASE_URL, { ...route, name: 'posts', provider: 'medium', account: OUR_ID, action: 'post' }),
        routeTo(BASE_URL, {
          ...{ ...route, name: 'bluesky', provider: 'bluesky', action: 'post-there' },
          account: 'did:plc:abcdefghijklmnopqrstuvwx',
        }),
      ],
      providers: [medium, bluesky],
      transport: async () => ({ kind: 'not_connected', detail: 'nobody' }),
      get: async () => ({ kind: 'failed', error: 'nobody' }),
    }),
  });
}

/** As the body of a request says it. */
async function submitted(w: ReturnType<typeof desk>, route: string, body: string) {
  const { payload, parent = null } = parseJson(body, REQUEST_LIMITS) as {
    payload: JsonObject;
    parent?: string | null;
  };
  return (await w.submit({ route, key: 'post-1', payload, parent })).kind;
}

const post = (members: string) => `{"payload":{"text":"Tea.","visibility":"public",${members}}}`;
const record = (members: string) =>
  `{"payload":{"text":"Tea.","created_at":"2026-11-30T09:00:00.000Z",${members}}}`;
const image = (id: string, hash = HASH) => `{"media_id":"${id}","sha256":"${hash}"}`;
const CID = 'bafkreidlp6sdj6jkroakvmbntpy2clsj77foijheae5byt3iwz7d2k542a';
const dot = (size: string) =>
  `"images":[{"cid":"${CID}","mime_type":"image/png","size":${size},"alt":"a dot"}]`;

interface Pair {
  readonly route: 'posts' | 'bluesky';
  readonly a: string;
  readonly b: string;
  readonly because: string;
}

describe('C22: under one key', () => {
  it.each<Pair>([
    {
      route: 'posts',
      a: `{"payload":{"text":"Tea.","media":[${image('m1')}],"visibility":"public"},"parent":"37"}`,
      b: `{"parent":"37","payload":{"visibility":"public","media":[{"sha256":"${HASH}","media_id":"m1"}],"text":"Tea."}}`,
      because: 'the order of members counts at no depth',
    },
    { route: 'bluesky', a: record(dot('70')), b: record(dot('70.0')), because: '70 is 70.0' },
    { route: 'bluesky', a: record(dot('70')), b: record(dot('7e1')), because: '70 is 7e1' },
    {
      route: 'posts',
      a: post('"media":[]'),
      b: '{"payload":{"text":"Tea.","visibility":"public"}}',
      because: 'no images are no images',
    },
    {
      route: 'posts',
      a: '{"payload":{"text":"Tea\\r\\ncaf\\u00e9","visibility":"public"}}',
      b: '{"payload":{"text":"Tea\\ncafe\\u0301","visibility":"public"}}',
      because: 'line ends and Unicode form are spellings',
    },
  ])('it is the same post: $because', async ({ route, a, b }) => {
    const w = desk();
    expect([await submitted(w, route, a), await submitted(w, route, b)]).toEqual(['accepted', 'same']);
    expect(w.queue).toHaveLength(1);
  });

  it.each<Pair>([
    {
      route: 'posts',
      a: post(`"media":[${image('m1')},${image('m2', OTHER_HASH)}]`),
      b: post(`"media":[${image('m2', OTHER_HASH)},${image('m1')}]`),
      because: 'the order of images counts',
    },
    {
      route: 'posts',
      a: post(`"media":[${image('m001')}]`),
      b: post(`"media":[${image('m1')}]`),
      because: 'ids keep their zeros',
    },
    {
      route: 'posts',
      a: post('"media":[]'),
      b: '{"payload":{"text":"Tea. ","visibility":"public"}}',
      because: 'white space counts',
    },
    {
      route: 'posts',
      a: post('"media":[]'),
      b: `{"parent":"37",${post('"media":[]').slice(1)}`,
      because: 'a reply is no root post',
    },
    { route: 'bluesky', a: record(dot('70')), b: record(dot('71')), because: '70 is not 71' },
    {
      route: 'bluesky',
      a: record('"langs":["en","ja"]'),
      b: record('"langs":["ja","en"]'),
      because: 'the order of languages counts',
    },
  ])('it is another post, and a conflict: $because', async ({ route, a, b }) => {
    const w = desk();
    expect([await submitted(w, route, a), await submitted(w, route, b)]).toEqual(['accepted', 'conflict']);
    expect(w.queue).toHaveLength(1);
  });

  const empty = (name: string, value: string) =>
    `{"payload":${JSON.stringify({ text: 'Tea.', visibility: 'public', [name]: 0 }).replace('0', value)}}`;
  it.each<{ route: Pair['route']; body: string; because: string }>([
    ...['text', 'visibility', 'media'].flatMap((name) =>
      ['null', '""'].map((value) => ({
        route: 'posts' as const,
        body: empty(name, value),
        because: `${name} is ${value}`,
      })),
    ),
    { route: 'posts', body: '{"payload":{"text":"Tea."}}', because: 'visibility is missing' },
    { route: 'posts', body: '{"payload":{"visibility":"public"}}', because: 'text is missing' },
    { route: 'bluesky', body: record('"langs":null'), because: 'langs is null' },
    { route: 'bluesky', body: record('"reply":null'), because: 'reply is null' },
    { route: 'bluesky', body: record(dot('"70"')), because: 'a size is no text' },
    { route: 'bluesky', body: record(dot('70.5')), because: 'half a byte' },
    { route: 'bluesky', body: record(dot('-0')), because: 'minus zero is zero, and no image is empty' },
  ])('nothing is stored: $because', async ({ route, body }) => {
    const w = desk();
    expect([await submitted(w, route, body), w.queue]).toEqual(['invalid', []]);
  });

  it.each<{ body: string; because: string }>([
    { body: post('"text":"Tea."'), because: 'a member twice, alike' },
    {
      body: post(`"media":[{"media_id":"m1","media_id":"m2","sha256":"${HASH}"}]`),
      because: 'a member twice, three deep',
    },
    { body: record(dot('NaN')), because: 'NaN' },
    { body: record(dot('9007199254740993')), because: 'a number that no double can hold' },
    { body: record(dot('1e400')), because: 'a number without end' },
  ])('it is no request: $because', async ({ body }) => {
    const w = desk();
    await expect(submitted(w, 'posts', body)).rejects.toThrow(BadJson);
    expect(w.queue).toEqual([]);
  });
});

/** A double rounds the id of our post to this one, which is somebody else's. */
const NEIGHBOUR = '4611686018427387904';
const OURS = '4611686018427387906';

describe('C27: an id of 19 digits, given as a number', () => {
  it.each<{ play: MediumPlay; because: string }>([
    { play: 'plain', because: 'in the answer, in its readback and on its page' },
    { play: 'cut_after_save', because: 'in the list too' },
  ])('keeps every digit, beside a neighbour of another account: $because', async ({ play }) => {
    expect(String(Number(OURS))).toBe(String(Number(NEIGHBOUR)));
    const s = mediumWorld({ script: [play], numericIds: true });
    s.outside.add({ id: NEIGHBOUR, text: TEXT, authorId: OTHER_ID });
    const intent = await s.sent();
    expect(await s.ending(intent)).toEqual({ state: 'confirmed', reason: null, writes: 1, posts: 1 });
    const { externalId, receipt } = await s.w.read(intent.id);
    expect([externalId, receipt?.externalId]).toEqual([OURS, OURS]);
    const read = s.outside.looks.map(({ path }) => path).filter((path) => /\/\d{19}$/.test(path));
    expect(new Set(read.map((path) => path.slice(-19)))).toEqual(new Set([OURS]));
  });

  it('where only the rounded one is known, the neighbour is not ours: people decide, nothing is written again', async () => {
    const s = mediumWorld({
      world: {
        wrapTransport: (transport) => async (request) => {
          const report = await transport(request);
          return report.kind === 'answered'
            ? { ...report, body: report.body.replace(OURS, NEIGHBOUR) }
            : report;
        },
      },
    });
    s.outside.add({ id: NEIGHBOUR, text: TEXT, authorId: OTHER_ID });
    const intent = await s.sent();
    expect((await s.w.read(intent.id)).acknowledgedId).toBe(NEIGHBOUR);
    expect(await s.ending(intent)).toEqual({ state: 'handover', reason: 'mismatch', writes: 1, posts: 1 });
  });
});
