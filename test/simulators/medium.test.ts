import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CHA, FIRST, mediumRig, PROGRAM, png, SECOND, TEA } from './medium-rig.ts';
import { look } from './supplier-rig.ts';

let rig: ReturnType<typeof mediumRig>;
beforeEach(() => {
  rig = mediumRig();
});
afterEach(() => rig.stop());

describe('a post', () => {
  it('is saved once, answered with its id as a string, and shown whole', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T23:30:00.999Z') });
    const medium = await rig.start();
    expect(await medium.post('Tea at five')).toEqual({ status: 201, body: { post: { id: FIRST } } });
    expect(rig.effects('Tea at five')).toHaveLength(1);
    expect(await medium.get(FIRST)).toEqual({
      status: 200,
      body: {
        post: {
          ...{ id: FIRST, author: TEA, text: 'Tea at five', parent: null, visibility: 'public' },
          ...{ created_at: '2026-03-02T08:30:00+09:00', deleted: false, media: [], links: [] },
        },
      },
    });
  });

  it('sent again is another one, whatever key or text it has', async () => {
    const medium = await rig.start();
    const headers = { 'idempotency-key': 'k' };
    await medium.post('Tea', { headers });
    expect((await medium.post('Tea', { headers })).body.post.id).toBe(SECOND);
    expect(rig.effects('Tea')).toHaveLength(2);
  });

  it('can be a reply to a post of any account', async () => {
    const medium = await rig.start();
    await medium.post('Who comes?', { more: { account: CHA.id } });
    await medium.post('I do', { more: { parent: FIRST } });
    expect((await medium.get(SECOND)).body.post).toMatchObject({ parent: FIRST, author: TEA });
  });

  const replyTo = (parent: unknown) => ({ parent });
  it.each([
    { more: { text: '' }, field: 'text', because: 'there is none' },
    { more: { text: '茶'.repeat(2_001) }, field: 'text', because: 'it is too long' },
    { more: { text: 'a\0' }, field: 'text', because: 'the book could not give it back' },
    { more: { text: 'a\ud83c' }, field: 'text', because: 'half a character is none' },
    { more: { key: 'k' }, field: 'key', because: 'it knows no such field' },
    { more: { parent: undefined }, field: 'parent', because: 'no parent has to be said' },
    { more: { visibility: 'secret' }, field: 'visibility', because: 'there is no such word' },
    { more: { media: ['m1'] }, field: 'media', because: 'it was never uploaded' },
    { more: { media: ['a', 'b', 'c', 'd', 'e'] }, field: 'media', because: 'four are the most' },
  ])('with $more is refused for $field: $because', async ({ more, field }) => {
    const medium = await rig.start();
    const refused = await medium.post('Tea', { more });
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
    expect(rig.book()).toMatchObject({ posts: [], requests: [{ status: 400, fault: null }] });
  });

  it('of 2000 code points is taken, though they are 4000 units', async () => {
    const medium = await rig.start();
    expect((await medium.post('🍵'.repeat(2_000))).status).toBe(201);
  });

  it.each([
    { sent: { more: { account: '900009' } }, status: 403, error: 'wrong_account' },
    { sent: { more: replyTo('1') }, status: 404, error: 'no_such_parent' },
    { sent: { headers: { 'content-type': 'text/plain' } }, status: 415, error: 'unsupported_media_type' },
    { sent: { more: { text: 'x'.repeat(70_000) } }, status: 413, error: 'too_large' },
  ])(
    'with $sent.more is $status $error, saves nothing and plays no fault',
    async ({ sent, status, error }) => {
      const medium = await rig.start();
      await medium.plan(undefined, [{ kind: 'cut_after_save' }]);
      expect(await medium.post('Tea', sent)).toEqual({ status, body: { error } });
      expect(rig.book()).toMatchObject({ posts: [], faults: {}, requests: [{ status }] });
    },
  );

  it.each([
    { change: { deleted: true }, because: 'it is gone' },
    { change: { visibility: 'draft' }, because: 'nobody can see it' },
  ])('is no reply to one with $change: $because', async ({ change }) => {
    const medium = await rig.start();
    await medium.post('Who comes?');
    await medium.control('PATCH', `posts/${FIRST}`, change);
    expect((await medium.post('I do', { more: replyTo(FIRST) })).status).toBe(404);
    expect(rig.effects('I do')).toEqual([]);
  });

  it('whose body did not arrive whole is not counted and saves nothing', async () => {
    const { url } = await rig.start();
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
    const head = ['POST /api/posts HTTP/1.1', 'host: x', 'content-type: application/json'];
    socket.end([...head, 'content-length: 100', '', '{"account":'].join('\r\n'));
    await once(socket, 'close');
    expect(rig.book()).toMatchObject({ posts: [], requests: [] });
  });
});

describe('tokens', () => {
  it('a POST needs the write token, a GET either, the public page none', async () => {
    const medium = await rig.start({ writeToken: 'w', readToken: 'r' });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const posted = async (headers = {}) => (await medium.post('Tea', { headers })).status;
    expect([await posted(), await posted(bearer('r')), await posted(bearer('w'))]).toEqual([401, 401, 201]);
    const uploaded = async (headers = {}) => (await medium.upload(png(), headers)).status;
    expect([await uploaded(bearer('r')), await uploaded(bearer('w'))]).toEqual([401, 201]);
    expect([rig.book().posts.length, rig.book().media.length]).toEqual([1, 1]);
    for (const path of [`accounts/${TEA.id}`, `accounts/${TEA.id}/posts`, `posts/${FIRST}`]) {
      const got = async (headers = {}) => (await look(`${medium.url}/api/${path}`, { headers })).status;
      const seen = [await got(), await got(bearer('x')), await got(bearer('r')), await got(bearer('w'))];
      expect(seen, path).toEqual([401, 401, 200, 200]);
    }
    expect((await medium.page(FIRST)).status).toBe(200);
  });
});

describe('an account', () => {
  it('is shown by its id, and another is not there', async () => {
    const { url } = await rig.start();
    expect(await look(`${url}/api/accounts/${CHA.id}`)).toEqual({ status: 200, body: { account: CHA } });
    for (const path of ['900009', '900009/posts', CHA.handle, `${TEA.id}/followers`]) {
      expect(await look(`${url}/api/accounts/${path}`)).toEqual({
        status: 404,
        body: { error: 'not_found' },
      });
    }
  });

  it('that was renamed keeps its id and posts; its old handle may become another’s', async () => {
    const medium = await rig.start();
    await medium.post('Tea');
    await medium.control('PATCH', `accounts/${TEA.id}`, { handle: 'tea.house', display_name: 'House' });
    const renamed = { id: TEA.id, handle: 'tea.house', display_name: 'House' };
    expect((await medium.get(FIRST)).body.post.author).toEqual(renamed);
    expect((await medium.list()).body.account).toEqual(renamed);
    expect((await medium.page(FIRST, 'tea.house')).linked.author.alternateName).toBe('tea.house');
    expect((await medium.page(FIRST)).status).toBe(404);
    await medium.control('PATCH', `accounts/${CHA.id}`, { handle: TEA.handle });
    expect((await medium.page(FIRST)).status).toBe(404);
    await medium.close();
    await rig.start();
    expect(rig.book().accounts.map(({ handle }) => handle)).toEqual(['tea.house', TEA.handle]);
  });

  it('cannot take a handle that another has, nor one that is none', async () => {
    const medium = await rig.start();
    const taken = await medium.control('PATCH', `accounts/${CHA.id}`, { handle: TEA.handle });
    expect(taken).toEqual({ status: 409, body: { error: 'handle_taken' } });
    expect((await medium.control('PATCH', `accounts/${CHA.id}`, { handle: 'a/b' })).status).toBe(400);
    expect((await medium.control('PATCH', 'accounts/1', { handle: 'a' })).status).toBe(404);
  });
});

describe('an image', () => {
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const jpeg = Buffer.from('ffd8ffe000044a46ffc0001108000900100301', 'hex');

  it.each([
    { type: 'image/png', body: png(640, 480), width: 640, height: 480 },
    { type: 'image/jpeg', body: jpeg, width: 16, height: 9 },
  ])('of $type is kept with the hash of its bytes and its size', async ({ type, body, width, height }) => {
    const medium = await rig.start();
    const uploaded = await medium.upload(body, { 'content-type': type, 'x-alt': 'a cup' });
    expect(uploaded).toEqual({ status: 201, body: { media_id: 'm1', sha256: hash(body) } });
    expect(rig.book()).toMatchObject({ posts: [], media: [{ alt: 'a cup', used: false }] });
    await medium.post('Tea', { more: { media: ['m1'] } });
    const image = { media_id: 'm1', sha256: hash(body), width, height };
    expect((await medium.get(FIRST)).body.post.media).toEqual([image]);
    expect((await medium.list()).body.posts).toMatchObject([{ has_media: true }]);
    expect(rig.book().media).toMatchObject([{ used: true }]);
  });

  it.each([
    { body: Buffer.from('tea'), type: 'image/png', status: 400, because: 'it is no image' },
    { body: png(), type: 'image/jpeg', status: 400, because: 'it is another type' },
    { body: png(0, 2), type: 'image/png', status: 400, because: 'it shows nothing' },
    { body: jpeg.subarray(0, 12), type: 'image/jpeg', status: 400, because: 'it names no size' },
    { body: png(), type: 'image/gif', status: 415, because: 'only two types are taken' },
    { body: png(1, 1, 'x'.repeat(4_194_304)), type: 'image/png', status: 413, because: 'it is too large' },
  ])('that is sent as $type is $status: $because', async ({ body, type, status }) => {
    const medium = await rig.start();
    expect((await medium.upload(body, { 'content-type': type })).status).toBe(status);
    expect(rig.book().media).toEqual([]);
  });

  it('keeps its order in a post, at most four', async () => {
    const medium = await rig.start();
    for (let width = 1; width <= 4; width += 1) await medium.upload(png(width));
    const media = ['m3', 'm1', 'm4', 'm2'];
    await medium.post('Tea', { more: { media } });
    const shown = (await medium.get(FIRST)).body.post.media as { media_id: string; width: number }[];
    expect(shown.map(({ media_id, width }) => [media_id, width])).toEqual([
      ...[['m3', 3] as const, ['m1', 1] as const, ['m4', 4] as const, ['m2', 2] as const],
    ]);
    expect((await medium.post('Tea', { more: { media: ['m1', 'm1'] } })).status).toBe(400);
  });

  it('is dropped after an hour in no post, and its id is never given again', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const medium = await rig.start();
    await medium.upload(png(1));
    await medium.post('Tea', { more: { media: ['m1'] } });
    await medium.upload(png(2));
    vi.setSystemTime(1_000_000 + 3_599_999);
    expect((await medium.upload(png(3))).body.media_id).toBe('m3');
    expect(rig.book().media).toHaveLength(3);
    vi.setSystemTime(1_000_000 + 3_600_000);
    expect((await medium.post('Cold tea', { more: { media: ['m2'] } })).status).toBe(400);
    expect(rig.book().media.map(({ media_id }) => media_id)).toEqual(['m1', 'm3']);
    expect((await medium.upload(png(4))).body.media_id).toBe('m4');
  });
});

describe('a restart', () => {
  it('keeps posts, images, ids, plans and played faults', async () => {
    const first = await rig.start();
    await first.upload(png());
    await first.post('Tea', { more: { media: ['m1'] } });
    await first.plan('Cake', [{ kind: 'cut_after_save' }, { kind: 'status_before_save', status: 503 }]);
    expect((await first.post('Cake')).status).toBe('closed');
    const before = rig.book();
    await first.close();
    expect(rig.book()).toEqual(before);

    const second = await rig.start();
    expect((await second.post('Cake')).status).toBe(503);
    expect((await second.post('Cake')).body.post.id).toBe('4611686018427387907');
    expect((await second.get(FIRST)).body.post.media).toHaveLength(1);
    expect(rig.effects('Cake')).toHaveLength(2);
    expect((await second.control('GET', 'book')).body).toEqual(JSON.parse(JSON.stringify(rig.book())));
  });

  it('after kill -9 in a storm of POSTs keeps what was answered, and no more than was sent', async () => {
    const first = await rig.spawn();
    const answered = new Map<string, string>();
    const storm = Array.from({ length: 60 }, async (_, n) => {
      const { status, body } = await first.post(`Tea ${n}`);
      if (status !== 201) return;
      answered.set(`Tea ${n}`, body.post.id);
      if (answered.size === 10) await first.end('SIGKILL');
    });
    await Promise.all(storm);
    expect(answered.size).toBeGreaterThanOrEqual(10);
    const idsOf = (text: string) => rig.effects(text).map(({ id }) => id);
    for (const [text, id] of answered) expect(idsOf(text)).toEqual([id]);
    for (let n = 0; n < 60; n += 1) expect(idsOf(`Tea ${n}`).length).toBeLessThanOrEqual(1);

    const second = await rig.spawn();
    const [text, id] = [...answered][0] ?? ['', ''];
    expect((await second.get(id)).body.post.text).toBe(text);
    expect((await second.post('Tea after')).status).toBe(201);
    expect(new Set(rig.book().posts.map((post) => post.id)).size).toBe(rig.book().posts.length);
  });
});

describe('the process', () => {
  it('prints one ready line, takes tokens from its environment and exits 0 on SIGTERM', async () => {
    const env = { KAKUTEI_MEDIUM_WRITE_TOKEN: 'w', KAKUTEI_MEDIUM_READ_TOKEN: 'r' };
    const more = ['--zone=-03:30', '--rewrite', 'trim_end,nfc', '--visibility-lag-ms', '0'];
    const medium = await rig.spawn(more, env);
    expect(JSON.parse(medium.line)).toEqual({ ready: true, url: medium.url, pid: medium.child.pid });
    const headers = { authorization: 'Bearer w' };
    expect((await medium.post('Tea \n')).status).toBe(401);
    expect((await medium.post('Tea \n', { headers })).status).toBe(201);
    const read = { headers: { authorization: 'Bearer r' } };
    const { body } = await look(`${medium.url}/api/posts/${FIRST}`, read);
    expect(body.post).toMatchObject({ text: 'Tea', created_at: expect.stringMatching(/:\d\d-03:30$/) });
    expect((await medium.control('GET', 'book')).status).toBe(404);
    expect(await medium.end('SIGTERM')).toEqual([0, null]);
  });

  it('exits 0 when its stdin closes, if it was started with its parent', async () => {
    const { child, gone } = await rig.spawn(['--with-parent', '--control']);
    child.stdin.end();
    expect(await gone).toEqual([0, null]);
  });

  const given = ['--file', 'f', '--accounts', '1:a:A'];
  it.each([
    [[], 2, /--file and --accounts are needed/],
    [['--file', 'f', '--accounts', '1:a'], 2, /--accounts must be ID:HANDLE:NAME,\.\.\., got "1:a"/],
    [['--file', 'f', '--accounts', 'x:a:A'], 2, /--accounts must be .*, got "x:a:A"/],
    [[...given, '--rewrite', 'nfc,upper'], 2, /--rewrite must be some of .*, got "upper"/],
    [[...given, '--zone', 'JST'], 2, /--zone must be an offset like \+09:00, got "JST"/],
    [[...given, '--page-size', '31'], 2, /--page-size must be .* to 30/],
    [['--file', '/no/such/folder/f', '--accounts', '1:a:A'], 69, /Cannot open the book "\/no\/such\/folder/],
    [['--file', ':memory:', '--accounts', '1:a:A,2:a:B'], 69, /an account's handle is another's/],
  ])('with %j exits %i with one clear line', async (args, code, message) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(errors).toMatch(message);
    expect(errors.trimEnd().split('\n')).toHaveLength(1);
  });
});
