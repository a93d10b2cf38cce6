/**
 * A desk in memory, on the test's clock: it takes notes, which it shows without any reference of ours, and
 * cancellations of orders, which it answers for. Its book is the only truth that a test may count.
 */
import * as z from 'zod';
import type { JsonObject } from '../../lib/domain/intent.ts';
import type { ProviderPromise } from '../../lib/domain/promise.ts';
import type { Route } from '../../lib/domain/route.ts';
import type { Clock } from '../../lib/platform/clock.ts';
import type { Check, LookContext, Lookup, Provider, ReadOnce } from '../../lib/providers/provider.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { routeTo } from './kit.ts';
import { PLAYS } from './scripted-warehouse.ts';
import type { Beside } from './world.ts';

export interface DeskRecord {
  readonly id: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly appliedAt: number;
  readonly refused: boolean;
}

/** An order that can be cancelled there. */
export interface DeskOrder {
  readonly status: 'open' | 'cancelled';
  readonly shipped: boolean;
  readonly cancelUntil: number | null;
}

export interface Desk {
  readonly beside: (clock: Clock) => Beside;
  readonly book: DeskRecord[];
  /** Records with an effect, by path and content. */
  readonly effects: (path: string, content?: JsonObject) => number;
  readonly posts: () => number;
  /** One line a POST, from its first byte to its answer, in counts of the world's calls. */
  readonly flights: { readonly from: number; to: number; readonly at: number }[];
  readonly orders: Map<string, DeskOrder>;
  /** Lookups and checks that fail, next first. */
  readonly failures: string[];
}

export interface DeskOptions {
  /** One play a POST; after the last one, plain. `listed`: refused, and listed as refused without an answer. */
  readonly script?: readonly (keyof typeof PLAYS | 'listed')[];
  readonly promise?: Partial<ProviderPromise>;
  readonly route?: Partial<Route>;
}

const BASE_URL = 'http://127.0.0.1:2';
const { key: _key, ...keyless } = warehouse.promise;
const LISTED = { applies: 'never', answer: { kind: 'sent_no_answer', how: 'timeout' } } as const;

export function scriptedDesk(options: DeskOptions = {}): Desk {
  const book: DeskRecord[] = [];
  const flights: Desk['flights'] = [];
  const orders: Desk['orders'] = new Map();
  const failures: string[] = [];
  let ticks = 0;
  const tick = (): Promise<void> =>
    new Promise((done) => {
      ticks += 1;
      setImmediate(done);
    });

  const transport =
    (clock: Clock): Transport =>
    async (request) => {
      const name = options.script?.[flights.length] ?? 'plain';
      const play = name === 'listed' ? LISTED : PLAYS[name];
      const reaches = play.answer === 'created' || play.answer.kind !== 'not_connected';
      const refusal = reaches ? await request.lastCheck() : null;
      if (refusal !== null) return { kind: 'not_connected', detail: `withheld:${refusal}` };
      const flight = { from: ticks, to: Number.POSITIVE_INFINITY, at: clock.now() };
      flights.push(flight);
      await tick();
      const path = String(request.url).slice(BASE_URL.length);
      const id = `D-${book.length + 1}`;
      if (name === 'listed' || play.applies !== 'never') {
        const afterMs = typeof play.applies === 'string' ? 0 : play.applies.afterMs;
        const body = JSON.parse(request.body) as JsonObject;
        book.push({ id, path, body, appliedAt: clock.now() + afterMs, refused: name === 'listed' });
      }
      await tick();
      if (play.answer !== 'created' && play.answer.kind === 'sent_no_answer') {
        await clock.sleep(request.timeoutMs);
      }
      flight.to = ticks;
      if (play.answer !== 'created') return play.answer;
      return { kind: 'answered', status: 201, headers: {}, body: JSON.stringify({ id }), complete: true };
    };

  const get =
    (clock: Clock): ReadOnce =>
    async (path) => {
      await tick();
      const failure = failures.shift();
      if (failure !== undefined) return { kind: 'failed', error: failure };
      const order = /^\/orders\/(.+)$/.exec(path)?.[1];
      const records = book.filter((each) => path.startsWith(each.path) && each.appliedAt <= clock.now());
      const shown = order === undefined ? { records } : { order: orders.get(order) ?? null };
      return { kind: 'answered', status: 200, body: JSON.stringify({ account: 'tokyo-1', ...shown }) };
    };

  const shows = (path: string, content: JsonObject) => (each: DeskRecord) =>
    each.path === path && !each.refused && Object.entries(content).every(([k, v]) => each.body[k] === v);

  return {
    book,
    flights,
    orders,
    failures,
    posts: () => flights.length,
    effects: (path, content = {}) => book.filter(shows(path, content)).length,
    beside: (clock) => ({
      baseUrl: BASE_URL,
      routes: routes(options.route),
      providers: [notes(options), cancellations(options)],
      transport: transport(clock),
      get: get(clock),
    }),
  };
}

function routes(change: Partial<Route> = {}): Route[] {
  const note = { name: 'notes', provider: 'desk-note', action: 'note', keyField: null, ...change };
  const cancel = { name: 'cancellations', provider: 'desk-cancellation', action: 'cancel', keyField: null };
  return [routeTo(BASE_URL, note), routeTo(BASE_URL, { ...cancel, ...change })];
}

const SEARCHED: ProviderPromise = { ...keyless, referenceShown: true, uniqueReference: false };

/** Known by their text alone; `tag` is not shown. */
function notes({ promise }: DeskOptions): Provider {
  return {
    ...callOf('/notes', 'note', promise ?? {}),
    promise: { ...SEARCHED, referenceShown: false, ...promise },
    payload: z
      .strictObject({ text: z.string().min(1), tag: z.string().optional() })
      .transform(({ text, tag }): JsonObject => (tag === undefined ? { text } : { text, tag })),
    takesParent: true,
    shownContent: ({ text = null }) => ({ text }),
    match: (intent, record) => record.content['text'] === intent.payload['text'],
    verify: (intent, record) => ({ text: record.content['text'] === intent.payload['text'] }),
  };
}

function cancellations({ promise }: DeskOptions): Provider {
  return {
    ...callOf('/cancellations', 'cancellation', promise ?? {}),
    promise: { ...SEARCHED, ...promise },
    payload: z.strictObject({ order: z.string().min(1) }),
    match: (intent, record) => record.content['order'] === intent.payload['order'],
    verify: (intent, record) => ({ order: record.content['order'] === intent.payload['order'] }),
    check: checkOrder,
  };
}

type Call = Pick<
  Provider,
  'name' | 'kind' | 'takesParent' | 'reference' | 'write' | 'readAnswer' | 'find' | 'read'
>;

function callOf(path: string, kind: string, promise: Partial<ProviderPromise>): Call {
  const find = (look: LookContext): Promise<Lookup> => lookAt(look, path);
  const made = z.object({ id: z.string() });
  return {
    name: `desk-${kind}`,
    kind,
    takesParent: false,
    reference: ({ id }) => id,
    write: (body) => ({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
    readAnswer: (status, body) => {
      const answer = made.safeParse(body);
      if (status === 201 && answer.success) return { kind: 'acknowledged', externalId: answer.data.id };
      return { kind: status === 400 ? 'not_executed' : 'unrecognised' };
    },
    ...(promise.search === undefined && 'search' in promise ? {} : { find }),
    read: async (look, _intent, externalId) => {
      const seen = await lookAt(look, path);
      if (seen.kind === 'failed' || externalId === null) return seen;
      const records = seen.records.filter((record) => record.externalId === externalId);
      return { ...seen, records, complete: false };
    },
  };
}

async function lookAt(look: LookContext, path: string): Promise<Lookup> {
  const answer = await look.get(path);
  if (answer.kind === 'failed') return answer;
  const { account, records } = JSON.parse(answer.body) as {
    readonly account: string;
    readonly records: readonly DeskRecord[];
  };
  return {
    kind: 'seen',
    complete: true,
    authorised: account === look.account,
    records: records.map(({ id, body, refused }) => ({
      externalId: id,
      account,
      reference: null,
      content: body,
      ...(refused ? { withoutEffect: true } : {}),
    })),
  };
}

async function checkOrder(look: LookContext, intent: { readonly payload: JsonObject }): Promise<Check> {
  const answer = await look.get(`/orders/${String(intent.payload['order'])}`);
  if (answer.kind === 'failed') return answer;
  const { order } = JSON.parse(answer.body) as { readonly order: DeskOrder | null };
  if (order === null) return { kind: 'not_ready', reason: 'no_such_order', facts: {} };
  const facts = { ...order };
  if (order.shipped) return { kind: 'not_ready', reason: 'shipped', facts };
  if (order.status === 'cancelled') return { kind: 'not_ready', reason: 'already_cancelled', facts };
  return { kind: 'ready', cancelUntil: order.cancelUntil, facts };
}
