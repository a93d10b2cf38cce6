/** The rig itself: a real PDS, its book, and a proxy that cuts. Effects are counted in the PDS, never in a client. */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WireReport } from '../../lib/domain/write-result.ts';
import { sendOnce } from '../../lib/providers/transport.ts';
import { FAULTS, type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { POSTS, portOf, serveOnLoopback } from './ground.ts';
import { keyOf, writeOf } from './posts.ts';
import { type Account, type RealPds, startRealPds } from './real-pds.ts';
import { recordsOf } from './record-book.ts';
import { call } from './xrpc.ts';

const CREATE = 'com.atproto.repo.createRecord';
const PUT = 'com.atproto.repo.putRecord';
/** For what must come, and for what must not. */
const PATIENT_MS = 10_000;
const LIMIT_MS = 300;

let pds: RealPds;
let writer: Account;
beforeAll(async () => {
  pds = await startRealPds();
  writer = pds.alice;
});
afterAll(() => pds?.close());

let lastKey = 0;
function freshKey(): string {
  lastKey += 1;
  return keyOf(lastKey);
}

async function held(rkey: string, account = writer): Promise<readonly { cid: string; value: object }[]> {
  const records = await recordsOf(pds.url, account.did, POSTS);
  return records.filter(({ uri }) => uri.endsWith(`/${rkey}`));
}

function create(rkey: string, text: string, account = writer) {
  return call(pds.url, { nsid: CREATE, input: writeOf(account, rkey, text), token: account.accessToken });
}

describe('the server', () => {
  test('knows two accounts by different ids, and their app tokens open them', async () => {
    expect(pds.alice.did).not.toBe(pds.bob.did);
    for (const { did, handle, accessToken } of [pds.alice, pds.bob]) {
      const session = await call(pds.url, { nsid: 'com.atproto.server.getSession', token: accessToken });
      expect(session).toMatchObject({ status: 200, body: { did, handle } });
    }
  });

  test('a record keeps the key that we gave it and reads back under its cid', async () => {
    const rkey = freshKey();
    const created = await create(rkey, 'read back');
    const uri = `at://${writer.did}/${POSTS}/${rkey}`;
    expect(created).toMatchObject({ status: 200, body: { uri } });
    const params = { repo: writer.did, collection: POSTS, rkey };
    const read = await call(pds.url, { nsid: 'com.atproto.repo.getRecord', params });
    const { cid } = created.body as { cid: string };
    expect(read).toMatchObject({ status: 200, body: { uri, cid, value: { text: 'read back' } } });
  });

  test('the book is whole when it takes several pages, and holds one account only', async () => {
    const { bob } = pds;
    const keys = [freshKey(), freshKey(), freshKey(), freshKey(), freshKey()];
    for (const rkey of keys) expect((await create(rkey, rkey, bob)).status).toBe(200);
    const listed = await recordsOf(pds.url, bob.did, POSTS, 2);
    expect(listed.map(({ uri }) => uri.split('/').at(-1))).toEqual(keys.toReversed());
    expect(await held(keys[0] ?? '')).toEqual([]);
  });

  test('a second create under a key is refused with 500 and leaves the first record as it was', async () => {
    const rkey = freshKey();
    await create(rkey, 'first');
    const before = await held(rkey);
    const again = [await create(rkey, 'first'), await create(rkey, 'second')];
    expect(again.map(({ status }) => status)).toEqual([500, 500]);
    expect(await held(rkey)).toEqual(before);
  });

  test('of creates at once under one key exactly one is saved', async () => {
    const rkey = freshKey();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((text) => create(rkey, text)));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 500, 500, 500]);
    const winner = answers.find(({ status }) => status === 200)?.body;
    expect(await held(rkey)).toMatchObject([{ cid: (winner as { cid: string }).cid }]);
  });

  test('of puts at once with swapRecord null one is saved and the others are told so by name', async () => {
    const rkey = freshKey();
    const put = (text: string) =>
      call(pds.url, {
        nsid: PUT,
        input: { ...writeOf(writer, rkey, text), swapRecord: null },
        token: writer.accessToken,
      });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(3);
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 400, body: { error: 'InvalidSwap' } });
    expect(await held(rkey)).toHaveLength(1);
  });

  test('records and tokens outlive a crash of the server', async () => {
    const rkey = freshKey();
    await create(rkey, 'before the crash');
    await pds.crash();
    await expect(create(freshKey(), 'nobody is there')).rejects.toThrow('fetch failed');
    await pds.startAgain();
    expect(await held(rkey)).toMatchObject([{ value: { text: 'before the crash' } }]);
    expect((await create(freshKey(), 'after it')).status).toBe(200);
  });
});

interface Cut {
  readonly fault: Fault;
  readonly report: Partial<WireReport>;
  /** What the server itself answered; null when it was not asked, or not in full. */
  readonly server: number | null;
  readonly records: number;
  readonly because: string;
}

const CUTS: readonly Cut[] = [
  {
    fault: 'cut_before_request',
    report: { kind: 'sent_no_answer', how: 'closed' },
    server: null,
    records: 0,
    because: 'the bytes left us and never reached the server: we cannot tell this from the next two',
  },
  {
    fault: 'cut_in_request',
    report: { kind: 'sent_no_answer', how: 'closed' },
    server: null,
    records: 0,
    because: 'a body that is one byte short is not saved',
  },
  {
    fault: 'cut_before_answer',
    report: { kind: 'sent_no_answer', how: 'closed' },
    server: 200,
    records: 1,
    because: 'it was saved before the answer was lost',
  },
  {
    fault: 'cut_in_head',
    report: { kind: 'sent_no_answer', how: 'closed' },
    server: 200,
    records: 1,
    because: 'half of a head is no answer, though its status line says 200',
  },
  {
    fault: 'cut_in_body',
    report: { kind: 'answered', status: 200, complete: false },
    server: 200,
    records: 1,
    because: 'the status came, the id did not',
  },
  {
    fault: 'cut_after_answer',
    report: { kind: 'answered', status: 200, complete: true },
    server: 200,
    records: 1,
    because: 'a reset after the last byte takes nothing away',
  },
  {
    fault: 'stall',
    report: { kind: 'sent_no_answer', how: 'timeout' },
    server: 200,
    records: 1,
    because: 'our limit ran out after it was saved',
  },
  {
    fault: 'hold',
    report: { kind: 'sent_no_answer', how: 'timeout' },
    server: 200,
    records: 1,
    because: 'it was saved after we had given up',
  },
];

describe('the proxy', () => {
  let proxy: FaultProxy;
  beforeAll(async () => {
    proxy = await startFaultProxy(pds.port);
  });
  afterAll(() => proxy?.close());

  function send(rkey: string, timeoutMs: number): Promise<WireReport> {
    return sendOnce({
      url: new URL(`${proxy.url}/xrpc/${CREATE}`),
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${writer.accessToken}` },
      body: JSON.stringify(writeOf(writer, rkey, 'through the proxy')),
      timeoutMs,
      lastCheck: async () => null,
    });
  }

  test('passes on what it was not told to cut', async () => {
    const rkey = freshKey();
    expect(await send(rkey, PATIENT_MS)).toMatchObject({ kind: 'answered', status: 200, complete: true });
    expect(await held(rkey)).toHaveLength(1);
  });

  test('has a row below for every fault', () => {
    expect(CUTS.map(({ fault }) => fault).toSorted()).toEqual(Object.keys(FAULTS).toSorted());
  });

  test.each(CUTS)('$fault: $records saved, because $because', async (cut) => {
    const rkey = freshKey();
    const armed = proxy.arm(cut.fault, CREATE);
    const waits = cut.fault === 'stall' || cut.fault === 'hold';
    expect(await send(rkey, waits ? LIMIT_MS : PATIENT_MS)).toMatchObject(cut.report);
    await armed.hit;
    if (cut.fault === 'hold') {
      expect(await held(rkey)).toEqual([]);
      armed.release();
    }
    expect(await armed.done).toBe(cut.server);
    expect(await held(rkey)).toHaveLength(cut.records);
  });

  test('a fault is played once, on the call that it names', async () => {
    const rkey = freshKey();
    const armed = proxy.arm('cut_before_answer', CREATE);
    const params = { repo: writer.did, collection: POSTS };
    expect((await call(proxy.url, { nsid: 'com.atproto.repo.listRecords', params })).status).toBe(200);
    const before = proxy.requests().length;
    expect(await send(rkey, PATIENT_MS)).toMatchObject({ kind: 'sent_no_answer' });
    await armed.hit;
    expect(await send(rkey, PATIENT_MS)).toMatchObject({ kind: 'answered', status: 500 });
    expect(proxy.requests().slice(before)).toEqual([`POST /xrpc/${CREATE}`, `POST /xrpc/${CREATE}`]);
    expect(await held(rkey)).toHaveLength(1);
  });

  test('a fault that nobody met is an error at the end', async () => {
    const unmet = await startFaultProxy(pds.port);
    unmet.arm('stall', CREATE);
    await expect(unmet.close()).rejects.toThrow(`never hit stall on ${CREATE}`);
  });
});

describe('the proxy passes bytes on unchanged', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });

  test.each([
    { framing: 'with a length', chunks: ['one'], because: 'most answers of a PDS' },
    { framing: 'in chunks', chunks: ['first, ', 'second, ', 'last'], because: 'compressed answers of a PDS' },
  ])('an answer $framing', async ({ chunks }) => {
    const server = await serveOnLoopback(async (request, response) => {
      request.resume();
      await once(request, 'end');
      for (const chunk of chunks.slice(0, -1)) response.write(chunk);
      response.end(chunks.at(-1));
    });
    const between = await startFaultProxy(portOf(server));
    open.push(between.close, () => server.close());
    const twice = [await fetch(between.url), await fetch(between.url, { method: 'POST', body: 'x' })];
    for (const response of twice) expect(await response.text()).toBe(chunks.join(''));
    expect(between.requests()).toEqual(['GET /', 'POST /']);
  });
});
