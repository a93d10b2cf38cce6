/**
 * `kakutei intent dry-run`: it shows what the service answered, writes nothing anywhere, takes its token nowhere else,
 * and nothing that comes over the wire makes it throw at its user or moves their cursor.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../functions/api-examples.ts';
import { askService } from '../../lib/cli/ask-service.ts';
import { main } from '../../lib/cli/kakutei.ts';
import { freePort, type Listening, listenOnLoopback, readBody } from '../../lib/local/loopback.ts';
import type { CallerSettings } from '../../lib/platform/caller-settings.ts';

const ID = `int_${'3'.repeat(40)}`;
const folder = mkdtempSync(join(tmpdir(), 'kakutei-cli-dry-run-'));
const open: Listening[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Arrived {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A service that answers everything alike, and what it was asked. */
async function serviceThat(answer: (response: ServerResponse) => void) {
  const arrived: Arrived[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = String(await readBody(request, 1_048_576));
    const { authorization } = request.headers;
    arrived.push({ line: `${request.method} ${request.url}`, authorization, body });
    answer(response);
  });
  const listening = await listenOnLoopback(server, 0);
  open.push(listening);
  return { url: listening.url, arrived };
}

const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  };

async function run(args: readonly string[], settings: CallerSettings = {}, stdin = '') {
  const out: string[] = [];
  const err: string[] = [];
  async function* chunks() {
    yield Buffer.from(stdin);
  }
  const code = await main(['intent', 'dry-run', ...args], {
    stdin: chunks(),
    settings,
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
  });
  return { code, out, err };
}

async function shown(answer: unknown, ...args: readonly string[]) {
  const { url } = await serviceThat(json(answer));
  return run([ID, '--url', url, ...args], { token: 'secret' });
}

const LOOK = {
  startedAt: '2026-11-30T09:00:00.000Z',
  endedAt: '2026-11-30T09:00:00.020Z',
  complete: true,
  authorised: true,
  error: null,
  refused: [],
};
const POST = {
  externalId: '5550001',
  url: 'https://example.org/p/5550001',
  checks: { author: true, payload: true, page: false },
};
const NEAR = {
  externalId: '5550002',
  url: 'https://example.org/p/5550002',
  createdAt: '2026-11-30T08:59:00.000Z',
  near: true,
  reasons: { author: true, payload: false, parent: true, window: true, binding: 'elsewhere' },
};
const SEARCH = {
  ...LOOK,
  candidates: [POST],
  reference: null,
  account: '900001',
  environment: 'test',
  seen: [
    {
      externalId: '5550001',
      url: 'https://example.org/p/5550001',
      createdAt: '2026-11-30T09:00:01.000Z',
      near: false,
      reasons: { author: true, payload: true, parent: true, window: true, binding: 'free' },
    },
    NEAR,
  ],
};
const ANSWER = {
  ...{ id: ID, state: 'unknown', version: 5, verdict: 'found' },
  search: SEARCH,
  readback: { ...LOOK, complete: false, candidates: [POST] },
  contradicting: [],
  sendRefusals: ['something_seen', 'search_first'],
  waitsFor: null,
  next: { do: 'wait', reason: null },
};

describe('what is shown', () => {
  test('is all of it, in lines: candidates with checks and reasons, near misses, the readback, what would follow', async () => {
    expect(await shown(ANSWER)).toEqual({
      code: 0,
      out: [
        `intent ${ID} is unknown, version 5`,
        'verdict: found',
        'search: complete, authorised, from 2026-11-30T09:00:00.000Z to 2026-11-30T09:00:00.020Z',
        '  at account "900001", environment test, which shows no reference',
        '  matches "5550001" at "https://example.org/p/5550001", made 2026-11-30T09:00:01.000Z',
        '    checks: author yes, payload yes, page NO',
        '    reasons: author yes, payload yes, parent yes, window yes, binding free',
        '  near miss "5550002" at "https://example.org/p/5550002", made 2026-11-30T08:59:00.000Z',
        '    reasons: author yes, payload NO, parent yes, window yes, binding elsewhere',
        'readback: not complete, authorised, from 2026-11-30T09:00:00.000Z to 2026-11-30T09:00:00.020Z',
        '  matches "5550001" at "https://example.org/p/5550001"',
        '    checks: author yes, payload yes, page NO',
        'against a send: something_seen, search_first',
        'next: wait',
        'Nothing was written: not at the provider, not in the ledger. This look counts for nothing.',
      ],
      err: [],
    });
  });

  test('is the answer itself with --json, members that this program does not know included', async () => {
    const { code, out } = await shown({ ...ANSWER, more: 1 }, '--json');
    expect({ code, out: out.map((line) => JSON.parse(line)) }).toEqual({
      code: 0,
      out: [{ ...ANSWER, more: 1 }],
    });
  });

  const examples = EXAMPLES.filter(
    ({ operation, name }) => operation === 'reconcile' && /^dry-run/.test(name),
  );

  test('has examples in the API document', () => expect(examples.length).toBeGreaterThan(1));

  test.each(examples)('takes the published example $name', async ({ path, answer }) => {
    const { url } = await serviceThat(json(answer));
    const { code, out, err } = await run([path?.['id'] ?? '', '--url', url], { token: 't' });
    expect({ code, err }).toEqual({ code: 0, err: [] });
    expect(out.join('\n')).toContain('  matches "R-');
    expect(out.at(-1)).toMatch(/^Nothing was written/);
  });

  test.each<[string, object, string]>([
    [
      'a settled intent that something speaks against',
      { contradicting: ['R-2'] },
      'against what is settled: "R-2"',
    ],
    ['a settled intent', { sendRefusals: null }, 'against a send: none is to come'],
    ['an intent that may be sent', { sendRefusals: [] }, 'against a send: nothing'],
    ['a reason', { next: { do: 'decide', reason: 'many' } }, 'next: decide, many'],
    [
      'a reference',
      { search: { ...SEARCH, reference: 'PO-1' } },
      '  at account "900001", environment test, for reference "PO-1"',
    ],
    ['a record without effect', { search: { ...SEARCH, refused: ['R-9'] } }, '  without effect there "R-9"'],
    ['a look that found nothing', { search: { ...SEARCH, candidates: [], seen: [] } }, '  no record matches'],
    [
      'a match that is not counted',
      { search: { ...SEARCH, candidates: [] } },
      '  seen, not counted "5550001" at "https://example.org/p/5550001", made 2026-11-30T09:00:01.000Z',
    ],
    [
      'a comparison that cannot be made',
      { search: { ...SEARCH, seen: [{ ...NEAR, reasons: { payload: 'not_comparable:deleted' } }] } },
      '    reasons: payload cannot be compared (deleted)',
    ],
    [
      'a near miss of which no page and no time is known',
      { search: { ...SEARCH, seen: [{ ...NEAR, url: null, createdAt: null }] } },
      '  near miss "5550002"',
    ],
    ['whom it waits for', { waitsFor: `int_${'7'.repeat(40)}` }, `waits for: intent int_${'7'.repeat(40)}`],
    [
      'that it waits for an intent that is not for these eyes',
      { waitsFor: 'elsewhere' },
      "waits for: another unit's intent",
    ],
  ])('names %s', async (_, change, line) => {
    expect((await shown({ ...ANSWER, ...change })).out).toContain(line);
  });
});

describe('a look that does not say all is exit code 1, and is shown all the same', () => {
  const failed = { ...LOOK, complete: false, authorised: false, error: 'timeout', candidates: [] };
  test.each<[string, object, string]>([
    ['failed', { search: { ...SEARCH, ...failed } }, 'search: FAILED (timeout)'],
    ['was not complete', { search: { ...SEARCH, complete: false } }, 'search: not complete, authorised'],
    ['was not authorised', { search: { ...SEARCH, authorised: false } }, 'search: complete, NOT AUTHORISED'],
    ['was not made', { search: null, readback: null, verdict: null }, 'verdict: none, nobody looked'],
    ['failed to read back', { readback: failed }, 'readback: FAILED (timeout)'],
    [
      'was not authorised to read back',
      { readback: { ...LOOK, authorised: false, candidates: [] } },
      'readback: complete, NOT AUTHORISED',
    ],
  ])('one that %s', async (_, change, beginning) => {
    const { code, out, err } = await shown({ ...ANSWER, ...change });
    expect({ code, err }).toEqual({ code: 1, err: [] });
    expect(out.some((line) => line.startsWith(beginning))).toBe(true);
    expect((await shown({ ...ANSWER, ...change }, '--json')).code).toBe(1);
  });
});

describe('text of the provider', () => {
  const EVIL = '\u001b[2J\u009b2J\r\n\u202egood\u2028 "free"';
  const hostile = {
    ...ANSWER,
    search: {
      ...{ ...SEARCH, account: EVIL, reference: EVIL, environment: EVIL, refused: [EVIL] },
      candidates: [{ externalId: EVIL, url: EVIL, checks: { [EVIL]: false } }],
      seen: [
        { externalId: EVIL, url: EVIL, createdAt: EVIL, near: true, reasons: { [EVIL]: EVIL } },
        { ...NEAR, externalId: `${EVIL}2` },
      ],
    },
    contradicting: [EVIL],
    waitsFor: EVIL,
    next: { do: EVIL, reason: EVIL },
  };

  test.each([[[]], [['--json']]])('stands in printable ASCII, quoted, whatever it is (%j)', async (args) => {
    const { code, out } = await shown(hostile, ...args);
    expect(code).toBe(0);
    expect(out.join('')).toMatch(/^[\x20-\x7e]+$/);
    expect(out.join('')).toContain('\\u001b[2J\\u009b2J\\r\\n\\u202egood\\u2028 \\"free\\"');
  });

  test('that is a thousand pages long is cut', async () => {
    const long = { ...ANSWER, search: { ...SEARCH, account: 'x'.repeat(100_000) } };
    const { out } = await shown(long);
    expect(Math.max(...out.map((line) => line.length))).toBeLessThan(250);
  });
});

describe('what is asked', () => {
  test('is one POST with the token and a dry run, below the base', async () => {
    const { url, arrived } = await serviceThat(json(ANSWER));
    expect(await run([ID, '--url', `${url}/kakutei/`], { token: ' t-1\n' })).toMatchObject({ code: 0 });
    expect(arrived).toEqual([
      {
        line: `POST /kakutei/intents/${ID}/reconciliation`,
        authorization: 'Bearer t-1',
        body: '{"dryRun":true}',
      },
    ]);
  });

  test('comes from the shell where no option says it, and an option wins', async () => {
    const { url, arrived } = await serviceThat(json(ANSWER));
    const file = join(folder, 'token');
    writeFileSync(file, 't-2\n');
    expect(await run([ID], { url, token: 't-1' })).toMatchObject({ code: 0 });
    expect(
      await run([ID, '--url', url, '--token-file', file], { url: 'http://127.0.0.1:1', token: 't-1' }),
    ).toMatchObject({
      code: 0,
    });
    expect(await run([ID, '--token-file', '-'], { url }, 't-3\n')).toMatchObject({ code: 0 });
    expect(arrived.map((each) => each.authorization)).toEqual(['Bearer t-1', 'Bearer t-2', 'Bearer t-3']);
  });
});

describe('wrong use is exit code 2, and nothing is sent', () => {
  const file = join(folder, 'long');
  writeFileSync(file, 'x'.repeat(20_000));
  const settings = { url: 'http://127.0.0.1:1', token: 'secret' };
  test.each<[readonly string[], CallerSettings, string]>([
    [[], settings, 'Name one intent.'],
    [[ID, ID], settings, 'Name one intent.'],
    [['int_1'], settings, '"int_1" is not the id of an intent.'],
    [[`${ID}/../x`], settings, 'is not the id of an intent.'],
    [[ID], { token: 't' }, 'The service is not named'],
    [[ID], { url: settings.url }, 'A token is missing'],
    [[ID], { ...settings, token: ' ' }, 'A token is missing'],
    [[ID], { ...settings, token: 'two words' }, 'it is not one word of ASCII'],
    [[ID], { ...settings, token: 'a\r\nx: y' }, 'it is not one word of ASCII'],
    [[ID, '--token-file', join(folder, 'none')], settings, 'ENOENT'],
    [[ID, '--token-file', folder], settings, 'EISDIR'],
    [[ID, '--token-file', file], settings, 'is too long for a token'],
    [[ID, '--url', 'ftp://127.0.0.1'], settings, 'is no http(s) address'],
    [[ID, '--url', 'nowhere'], settings, 'is no http(s) address'],
    [[ID, '--url', 'https://me:pw@example.org'], settings, 'is no http(s) address without credentials'],
    [[ID, '--url', 'https://example.org/?x=1'], settings, 'holds more than a place'],
    [[ID, '--url', 'http://example.org'], settings, 'the token would travel in the clear'],
    [[ID, '--token', 'secret'], settings, "Unknown option '--token'"],
  ])('%j', async (args, given, message) => {
    const { code, out, err } = await run(args, given);
    expect({ code, out }).toEqual({ code: 2, out: [] });
    expect(err.join('\n')).toContain(message);
    expect(err.join('\n')).toContain('Usage: kakutei intent dry-run');
    expect(err.join('\n')).not.toContain('secret');
  });
});

describe('what is no dry run is exit code 2 in one line', () => {
  const problem = { type: '/problems/not-found', title: 'There is no such intent.', status: 404 };
  const { verdict: _verdict, ...halved } = ANSWER;
  test.each<[string, (response: ServerResponse) => void, string]>([
    ['a problem', json(problem, 404), 'Cannot look: 404 "There is no such intent.".'],
    [
      'a problem with a detail',
      json({ ...problem, detail: 'Ask again.' }, 503),
      '503 "There is no such intent.": "Ask again.".',
    ],
    ['the gateway, 401', json({ message: 'Unauthorized' }, 401), 'Cannot look: 401 "Unauthorized".'],
    ['the gateway, 403', json({ message: 'Forbidden' }, 403), 'Cannot look: 403 "Forbidden".'],
    ['a status alone', json('[]', 500), 'Cannot look: 500 without a word.'],
    ['text in a title', json({ title: '\u001b[2Jhi' }, 500), 'Cannot look: 500 "\\u001b[2Jhi".'],
    [
      'an intent',
      json(EXAMPLES.find(({ operation }) => operation === 'show')?.answer),
      'it is no dry run of this intent',
    ],
    ['half an answer', json(halved), 'it is no dry run of this intent'],
    ['another intent', json({ ...ANSWER, id: `int_${'4'.repeat(40)}` }), 'it is no dry run of this intent'],
    ['no JSON', json('<html>'), 'its answer (status 200) is not JSON'],
    [
      'nesting as deep as the length allows',
      json(`{"more":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
      'its answer (status 200) is nested deeper than 64',
    ],
    ['nesting in an error', json('['.repeat(65) + ']'.repeat(65), 500), 'is nested deeper than 64'],
    ['no text', (response) => response.end(Buffer.from([0x22, 0xff, 0x22])), 'is not JSON'],
    ['too much', json(JSON.stringify('x'.repeat(1_048_576))), 'its answer is longer than 1048576 bytes'],
    [
      'a cut answer',
      (response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
      'the connection failed: ECONNRESET',
    ],
    ['no answer', (response) => response.destroy(), 'the connection failed: ECONNRESET'],
  ])('%s', async (_, answer, message) => {
    const { url } = await serviceThat(answer);
    const { code, out, err } = await run([ID, '--url', url], { token: 'secret' });
    expect({ code, out }).toEqual({ code: 2, out: [] });
    expect(err).toEqual([expect.stringContaining(message)]);
    expect(err[0]).toMatch(/^[\x20-\x7e]+$/);
    expect(err[0]).not.toContain('secret');
  });

  test('a service that is not there', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, err } = await run([ID, '--url', url], { token: 'secret' });
    expect({ code, err }).toEqual({
      code: 2,
      err: [`Cannot ask "${url}/": the connection failed: ECONNREFUSED.`],
    });
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i): the token goes to no other place',
    async (status) => {
      const other = await serviceThat(json(ANSWER));
      const { url } = await serviceThat((response) =>
        response.writeHead(status, { location: other.url }).end(),
      );
      const { code, out, err } = await run([ID, '--url', url], { token: 'secret' });
      expect({ code, out, err }).toEqual({
        code: 2,
        out: [],
        err: [expect.stringContaining('it redirects')],
      });
      expect(other.arrived).toEqual([]);
    },
  );

  test.each<[string, (response: ServerResponse) => void]>([
    ['never answers', () => undefined],
    ['never ends its answer', (response) => void response.writeHead(200).write('{')],
  ])('a service that %s is left when its time is over', async (_, answer) => {
    const { url } = await serviceThat(answer);
    const question = { url: new URL(url), token: 't', body: {} };
    expect(await askService(question, { timeoutMs: 100, mostBytes: 1 })).toEqual({
      kind: 'failed',
      why: 'it did not answer within 0.1 s',
    });
  });
});

test('the help lists it, and says why a token is no argument', async () => {
  const out: string[] = [];
  const terminal = {
    stdin: (async function* () {})(),
    settings: {},
    out: (line: string) => void out.push(line),
    err: () => undefined,
  };
  expect(await main(['--help'], terminal)).toBe(0);
  expect(await main(['intent', 'dry-run', '--help'], terminal)).toBe(0);
  expect(out[0]).toContain('intent dry-run');
  expect(out[1]).toContain('Never an argument: those are seen by everybody on the machine');
});
