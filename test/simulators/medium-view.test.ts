import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VIEW_FAULTS } from '../../lib/simulators/medium-faults.ts';
import { CHA, FIRST, type Medium, mediumRig, SECOND, TEA } from './medium-rig.ts';
import { look } from './supplier-rig.ts';

let rig: ReturnType<typeof mediumRig>;
beforeEach(() => {
  rig = mediumRig();
});
afterEach(() => rig.stop());

const START = Date.parse('2026-03-01T00:00:00Z');
const at = (offsetMs: number) => new Date(START + offsetMs).toISOString();

async function ids(medium: Medium, query?: string): Promise<string[]> {
  const { body } = await medium.list(query);
  return body.posts.map((post: { id: string }) => post.id);
}

/** Every page of a list, as lists of ids. */
async function pages(medium: Medium, query: string): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await medium.list(query + (cursor && `&cursor=${cursor}`));
    all.push(body.posts.map((post: { id: string }) => post.id));
    cursor = body.next;
  }
  return all;
}

/** Adds posts that nobody sent, at these ms after START; their ids. */
async function added(medium: Medium, times: readonly number[], more: object = {}): Promise<string[]> {
  const made: string[] = [];
  for (const time of times) {
    const post = { account: TEA.id, text: `Tea ${time}`, created_at: at(time), ...more };
    made.push((await medium.control('POST', 'posts', post)).body.id);
  }
  return made;
}

describe('a list', () => {
  it('names its account and shows neither text nor media, newest first', async () => {
    const medium = await rig.start();
    const [older, newest, oldest] = await added(medium, [2_000, 3_900, 1_000]);
    await added(medium, [9_000], { account: CHA.id });
    expect(await ids(medium)).toEqual([newest, older, oldest]);
    const { body } = await medium.list('limit=1');
    expect(body).toEqual({
      account: TEA,
      posts: [
        {
          ...{ id: newest, author_id: TEA.id, parent: null, created_at: '2026-03-01T09:00:03+09:00' },
          ...{ visibility: 'public', deleted: false, has_media: false },
        },
      ],
      next: expect.any(String),
    });
  });

  it.each([
    { change: { visibility: 'unlisted' }, listed: true, page: 200, get: 200 },
    { change: { visibility: 'draft' }, listed: false, page: 404, get: 200 },
    { change: { deleted: true }, listed: false, page: 404, get: 410 },
  ])('with $change lists it without include=all: $listed', async ({ change, listed, page, get }) => {
    const medium = await rig.start();
    await medium.post('Tea');
    await medium.control('PATCH', `posts/${FIRST}`, change);
    expect(await ids(medium, '')).toEqual(listed ? [FIRST] : []);
    expect((await medium.list()).body.posts).toMatchObject([change]);
    expect([(await medium.page(FIRST)).status, (await medium.get(FIRST)).status]).toEqual([page, get]);
  });

  it.each([
    { query: { since: at(5_000) }, shown: [5_000, 5_900, 6_000], because: 'the edge is in' },
    { query: { since: at(5_500) }, shown: [6_000], because: 'the time shown is cut to the second' },
    { query: { until: at(5_000) }, shown: [4_999, 5_000, 5_900], because: 'the edge is in' },
    { query: { until: at(4_999) }, shown: [4_999], because: 'the time shown is cut to the second' },
    { query: { since: at(5_000), until: at(5_000) }, shown: [5_000, 5_900], because: 'one second' },
    { query: { since: '2026-03-01T09:00:06+09:00' }, shown: [6_000], because: 'an offset counts' },
  ])('with $query shows what was made at $shown: $because', async ({ query, shown }) => {
    const medium = await rig.start();
    const times = [4_999, 5_000, 5_900, 6_000];
    const made = await added(medium, times);
    const expected = shown.map((time) => made[times.indexOf(time)]);
    expect(await ids(medium, new URLSearchParams(query).toString())).toEqual(expected.reverse());
  });

  it.each([
    { query: 'since=yesterday', field: 'since', because: 'it is no time' },
    { query: 'since=2026-03-01T09:00:00+09:00', field: 'since', because: 'a bare + is a blank' },
    { query: 'limit=31', field: 'limit', because: 'thirty are the most' },
    { query: 'limit=0', field: 'limit', because: 'a page has a post' },
    { query: 'include=drafts', field: 'include', because: 'all is the only word' },
    { query: 'page=2', field: 'page', because: 'an unknown word is refused' },
  ])('with "$query" is refused: $because', async ({ query, field }) => {
    const medium = await rig.start();
    const refused = await medium.list(query);
    expect(refused).toEqual({ status: 400, body: { error: 'invalid_request', field } });
  });

  it.each(['+09:00', '-03:30', '+00:00'])('shows local time in zone %s', async (zone) => {
    const medium = await rig.start({ zone });
    const [id = ''] = await added(medium, [1_999]);
    const shown = (await medium.get(id)).body.post.created_at as string;
    expect(shown.slice(19)).toBe(zone);
    expect(Date.parse(shown)).toBe(START + 1_000);
    expect((await medium.list()).body.posts[0].created_at).toBe(shown);
  });

  it('and the public page hide a post up to the visibility lag and no longer; its id shows it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: START });
    const medium = await rig.start({ visibilityLagMs: 300 });
    await medium.post('Tea');
    const seen = async () => [await ids(medium), (await medium.page(FIRST)).status];
    vi.setSystemTime(START + 299);
    expect(await seen()).toEqual([[], 404]);
    expect((await medium.get(FIRST)).status).toBe(200);
    vi.setSystemTime(START + 300);
    expect(await seen()).toEqual([[FIRST], 200]);
  });
});

describe('pages', () => {
  it.each([
    { options: {}, query: 'limit=2', sizes: [2, 2, 1], because: 'the limit asked for' },
    { options: { pageSize: 3 }, query: '', sizes: [3, 2], because: "the medium's own limit" },
    { options: { pageSize: 5 }, query: '', sizes: [5], because: 'a full last page has no next' },
  ])('of $sizes with $options and "$query": $because', async ({ options, query, sizes }) => {
    const medium = await rig.start(options);
    const made = await added(medium, [1_000, 1_000, 1_500, 3_000, 2_000]);
    const all = await pages(medium, query);
    expect(all.map((page) => page.length)).toEqual(sizes);
    expect(all.flat()).toEqual([3, 4, 2, 1, 0].map((n) => made[n]));
  });

  it('neither repeat nor leave out a post when others come and go meanwhile', async () => {
    const medium = await rig.start();
    const [first, second, third] = await added(medium, [1_000, 2_000, 3_000]);
    const one = (await medium.list('limit=1')).body;
    expect(one.posts).toMatchObject([{ id: third }]);
    await added(medium, [9_000]);
    await medium.control('PATCH', `posts/${third}`, { deleted: true });
    const two = (await medium.list(`limit=2&cursor=${one.next}`)).body;
    expect(two).toMatchObject({ posts: [{ id: second }, { id: first }], next: null });
  });

  it.each([
    { query: 'limit=1&include=all', later: 0, because: 'it was made without drafts' },
    { query: `limit=1&since=${at(0)}`, later: 0, because: 'it was made for another time' },
    { query: 'limit=1', later: 60_000, because: 'it is too old' },
  ])('a cursor is refused with "$query" $later ms later: $because', async ({ query, later }) => {
    vi.useFakeTimers({ toFake: ['Date'], now: START + 60_000 });
    const medium = await rig.start();
    await added(medium, [1_000, 2_000]);
    const { next } = (await medium.list('limit=1')).body;
    expect((await medium.list(`limit=2&cursor=${next}`)).status).toBe(200);
    vi.setSystemTime(START + 60_000 + later);
    const refused = await medium.list(`${query}&cursor=${next}`);
    expect(refused).toEqual({ status: 400, body: { error: 'bad_cursor' } });
    expect((await medium.list(`limit=1&cursor=${next}`, CHA.id)).status).toBe(400);
    expect((await medium.list('cursor=abc')).status).toBe(400);
  });
});

describe('the public page', () => {
  it('shows id, author, text and parent, and only what is so as a reply', async () => {
    const medium = await rig.start();
    await medium.post('Who comes?', { more: { account: CHA.id } });
    await medium.post('I do', { more: { parent: FIRST } });
    const author = { identifier: TEA.id, alternateName: TEA.handle, name: TEA.display_name };
    expect((await medium.page(SECOND)).linked).toMatchObject({
      ...{ '@type': 'SocialMediaPosting', identifier: SECOND, author },
      ...{ articleBody: 'I do', isPartOf: FIRST },
    });
    expect((await medium.page(FIRST, CHA.handle)).linked).not.toHaveProperty('isPartOf');
  });

  it('is under the handle of its author only', async () => {
    const medium = await rig.start();
    await medium.post('Tea');
    for (const handle of [CHA.handle, TEA.id, 'nobody']) {
      expect((await medium.page(FIRST, handle)).status).toBe(404);
    }
    expect((await medium.page('1')).status).toBe(404);
  });

  it('lets no text out of its place', async () => {
    const medium = await rig.start();
    const text = '</script><script>alert(1)</script><!-- &amp; "q"';
    await medium.post(text);
    const { html, linked } = await medium.page(FIRST);
    expect(linked.articleBody).toBe(text);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('&lt;/script&gt;');
  });
});

/** What is lied about, once the fault is on: one of three GETs each; null for the truth. */
interface ViewRow {
  readonly with?: object;
  readonly list: object | null;
  readonly one: object | null;
  readonly page: object | null;
  readonly because: string;
}

const VIEWS: Readonly<Record<keyof typeof VIEW_FAULTS, ViewRow>> = {
  hidden: {
    ...{ list: { status: 200, body: { posts: [] } }, one: null, page: null },
    because: 'only the list forgot it',
  },
  list_status: {
    ...{ with: { status: 429 }, list: { status: 429 }, one: null, page: null },
    because: 'a refusal is no empty list',
  },
  list_garbage: {
    ...{ list: { status: 200, body: { text: expect.stringContaining('<!doctype') } } },
    ...{ one: null, page: null, because: 'HTML is no empty list' },
  },
  partial_page: {
    ...{ list: { status: 200, body: { posts: [], next: null } }, one: null, page: null },
    because: 'a single page lacks its last',
  },
  page_404: { list: null, one: null, page: { status: 404 }, because: 'readers see nothing' },
  page_wrong_author: {
    ...{ list: null, one: null },
    page: {
      status: 200,
      linked: {
        author: { identifier: CHA.id, alternateName: CHA.handle, name: TEA.display_name },
      },
    },
    because: 'a 200 of another author is no success',
  },
  page_redirect: { list: null, one: null, page: { status: 302 }, because: 'elsewhere is not here' },
  deleted: {
    ...{ list: { status: 200, body: { posts: [{ deleted: true }] } } },
    ...{ one: { status: 410, body: { error: 'deleted' } }, page: { status: 404 } },
    because: 'all say so',
  },
  clock_skew_s: {
    ...{ with: { seconds: -90 }, page: null },
    list: { status: 200, body: { posts: [{ created_at: '2026-03-01T08:58:30+09:00' }] } },
    one: { status: 200, body: { post: { created_at: '2026-03-01T08:58:30+09:00' } } },
    because: 'a page shows no time',
  },
};

describe('each fault of a GET', () => {
  const looks = {
    list: (medium: Medium) => medium.list(),
    one: (medium: Medium) => medium.get(FIRST),
    page: (medium: Medium) => medium.page(FIRST),
  };

  it.each(Object.entries(VIEWS))(
    '%s lies where it should, is counted, and touches no book',
    async (kind, row) => {
      const medium = await rig.start();
      await added(medium, [0], { text: 'Tea' });
      const honest = {
        list: await looks.list(medium),
        one: await looks.one(medium),
        page: await looks.page(medium),
      };
      expect([honest.list.status, honest.one.status, honest.page.status]).toEqual([200, 200, 200]);
      const { posts } = rig.book();
      await medium.plan('Tea', [{ kind, ...row.with }]);
      let lies = 0;
      for (const place of ['list', 'one', 'page'] as const) {
        const expected = row[place];
        const seen = await looks[place](medium);
        if (expected === null) expect(seen, `${place}: ${row.because}`).toEqual(honest[place]);
        else expect(seen, `${place}: ${row.because}`).toMatchObject(expected);
        lies += expected === null ? 0 : 1;
      }
      expect(lies).toBeGreaterThan(0);
      expect(rig.book()).toMatchObject({ posts, faults: { [kind]: lies } });
      await medium.plan('Tea', []);
      for (const place of ['list', 'one', 'page'] as const) {
        expect(await looks[place](medium)).toEqual(honest[place]);
      }
    },
  );

  it('plays as often as told, each after the other', async () => {
    const medium = await rig.start();
    await medium.post('Tea');
    await medium.plan('Tea', [
      { kind: 'list_status', times: 2 },
      { kind: 'hidden', times: 1 },
    ]);
    const seen: unknown[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { status, body } = await medium.list();
      seen.push(status === 200 ? body.posts.length : status);
    }
    expect(seen).toEqual([503, 503, 0, 1]);
  });

  it('waits for a post to lie about; a failing list only for a POST with its text', async () => {
    const medium = await rig.start({ applyDelayMs: 60_000 });
    await medium.plan('Tea', [{ kind: 'hidden', times: 1 }]);
    await medium.plan('late', [{ kind: 'late_save' }, { kind: 'list_status', times: 1 }]);
    for (let n = 0; n < 2; n += 1) expect(await ids(medium)).toEqual([]);
    expect(rig.book().faults).toEqual({});
    await medium.post('too late');
    expect((await medium.list('', CHA.id)).status).toBe(200);
    expect((await medium.list()).status).toBe(503);
    await medium.post('Tea');
    expect([await ids(medium), await ids(medium)]).toEqual([[], [FIRST]]);
  });

  it('is for the posts with its text only', async () => {
    const medium = await rig.start();
    for (const text of ['Tea', 'Cake']) await medium.post(text);
    await medium.plan('Tea', [{ kind: 'hidden' }]);
    await medium.plan('Cake', [{ kind: 'page_404' }, { kind: 'clock_skew_s', seconds: 3_600 }]);
    expect(await ids(medium)).toEqual([SECOND]);
    expect([(await medium.page(FIRST)).status, (await medium.page(SECOND)).status]).toEqual([200, 404]);
  });

  it('a first page that is said to be the last hides the others', async () => {
    const medium = await rig.start();
    const made = await added(medium, [1_000, 2_000, 3_000]);
    await medium.plan(undefined, [{ kind: 'partial_page', times: 1 }]);
    expect(await pages(medium, 'limit=2')).toEqual([[made[2], made[1]]]);
    expect(await pages(medium, 'limit=2')).toEqual([[made[2], made[1]], [made[0]]]);
  });

  it('a skewed clock moves a post in time: out of a range and to another place', async () => {
    const medium = await rig.start();
    const [early, late] = await added(medium, [0, 10_000]);
    await medium.plan('Tea 0', [{ kind: 'clock_skew_s' }]);
    expect(await ids(medium)).toEqual([early, late]);
    expect(await ids(medium, `until=${at(60_000)}`)).toEqual([late]);
    expect(await ids(medium, `since=${at(120_000)}`)).toEqual([early]);
  });

  it.each([
    { fault: {}, location: '/login', because: 'unless told' },
    { fault: { location: 'http://x.test/' }, location: 'http://x.test/', because: 'as told' },
  ])('a redirect leads to $location: $because', async ({ fault, location }) => {
    const medium = await rig.start();
    await medium.post('Tea');
    await medium.plan('Tea', [{ kind: 'page_redirect', ...fault }]);
    const response = await fetch(`${medium.url}/@${TEA.handle}/${FIRST}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, location]);
  });
});

describe('other paths', () => {
  it('are 404, and so is control where it was not asked for', async () => {
    const { url } = await rig.start({ control: false });
    for (const path of ['/', '/api', '/api/posts', '/api/posts/1/x', '/@tea.example', '/control/book']) {
      expect((await look(url + path)).status, path).toBe(404);
    }
    expect((await look(`${url}/api/posts`, { method: 'PUT', body: '{}' })).status).toBe(404);
  });
});

describe('control', () => {
  it('adds a post that nobody sent, as it is given, and no request', async () => {
    const medium = await rig.start({ rewrites: ['html_entities'], visibilityLagMs: 300 });
    const links = [{ shown: 'https://s.test/9', target: 'https://a.test/' }];
    const [id = ''] = await added(medium, [0], { text: 'a & b', account: CHA.id, parent: '17', links });
    expect((await medium.get(id)).body.post).toMatchObject({
      author: CHA,
      text: 'a & b',
      parent: '17',
      links,
    });
    expect((await medium.list('', CHA.id)).body.posts).toHaveLength(1);
    expect(rig.book()).toMatchObject({ posts: [{ sent: false }], requests: [] });
  });

  it.each([
    { body: { account: '1', text: 'a' }, status: 404, error: 'no_such_account' },
    { body: { account: TEA.id, text: '' }, status: 400, error: 'invalid_request' },
    { body: { account: TEA.id, text: 'a', media: ['m1'] }, status: 400, error: 'invalid_request' },
    { body: { account: TEA.id, text: 'a', created_at: 'now' }, status: 400, error: 'invalid_request' },
  ])('refuses $body', async ({ body, status, error }) => {
    const medium = await rig.start();
    expect(await medium.control('POST', 'posts', body)).toMatchObject({ status, body: { error } });
    expect(rig.book().posts).toEqual([]);
  });

  it('changes text, visibility, links and deletion, and back', async () => {
    const medium = await rig.start();
    await medium.post('Tea');
    const links = [{ shown: 'x', target: 'https://b.test/' }];
    await medium.control('PATCH', `posts/${FIRST}`, { text: 'Cake', links, deleted: true });
    expect((await medium.get(FIRST)).status).toBe(410);
    await medium.control('PATCH', `posts/${FIRST}`, { deleted: false, visibility: 'unlisted' });
    const changed = { text: 'Cake', links, visibility: 'unlisted', deleted: false };
    expect((await medium.get(FIRST)).body.post).toMatchObject(changed);
    expect(rig.book().posts).toMatchObject([{ text: 'Cake', sent_text: 'Tea' }]);
    expect((await medium.control('PATCH', 'posts/1', { deleted: true })).status).toBe(404);
    expect((await medium.control('PATCH', `posts/${FIRST}`, { author: 'x' })).status).toBe(400);
  });
});
