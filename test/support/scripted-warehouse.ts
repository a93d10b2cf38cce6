/**
 * A warehouse in memory, on the test's clock: the same HTTP contract as the real one, with a script for each
 * POST. It shares nothing with the adapter; its book is the only truth that a test may count.
 */
import type { WireReport } from '../../lib/domain/write-result.ts';
import type { Clock } from '../../lib/platform/clock.ts';
import type { ReadOnce } from '../../lib/providers/provider.ts';
import type { Transport, WriteRequest } from '../../lib/providers/transport.ts';

/** What one POST does: whether and when it is applied, and what the sender sees. */
export interface Play {
  readonly applies: 'now' | 'never' | { readonly afterMs: number };
  readonly answer: 'created' | WireReport;
}

export const PLAYS = {
  plain: { applies: 'now', answer: 'created' },
  lost: { applies: 'now', answer: { kind: 'sent_no_answer', how: 'closed' } },
  stalled: { applies: 'now', answer: { kind: 'sent_no_answer', how: 'timeout' } },
  unavailable: { applies: 'never', answer: status(503) },
  saved500: { applies: 'now', answer: status(500) },
  empty500: { applies: 'never', answer: status(500) },
  cut: { applies: 'now', answer: { ...status(201), complete: false } },
  away: { applies: 'never', answer: { kind: 'not_connected', detail: 'refused' } },
  swallowed: { applies: 'never', answer: { kind: 'sent_no_answer', how: 'timeout' } },
  late: { applies: { afterMs: 400 }, answer: { kind: 'sent_no_answer', how: 'timeout' } },
  refused: { applies: 'never', answer: { ...status(400), body: '{"error":"invalid_request"}' } },
} as const satisfies Record<string, Play>;

function status(code: number): Extract<WireReport, { kind: 'answered' }> {
  return { kind: 'answered', status: code, headers: {}, body: '{}', complete: true };
}

interface Reservation {
  readonly id: string;
  readonly key: string;
  readonly body: Record<string, unknown>;
  readonly appliedAt: number;
}

export interface ScriptedWarehouse {
  readonly transport: Transport;
  readonly reader: () => ReadOnce;
  /** Reservations of an order that exist by now. */
  readonly effects: (orderId: string) => number;
  readonly posts: () => number;
  /** When they arrived, ms. */
  readonly postedAt: readonly number[];
  readonly gets: () => number;
  /** Lies or failures of the next GETs, first come first served; a function sees the honest answer. */
  readonly views: ((honest: Record<string, unknown>) => Awaited<ReturnType<ReadOnce>>)[];
  /** Adds a reservation that nobody here sent. */
  readonly add: (orderId: string, body: Record<string, unknown>) => void;
  readonly hits: Map<string, number>;
}

interface Options {
  readonly clock: Clock;
  /** One play a POST; after the last one, plain. */
  readonly script: readonly (keyof typeof PLAYS)[];
  /** Whether equal keys are one reservation. */
  readonly keyed: boolean;
  readonly account?: string;
}

export function scriptedWarehouse({ clock, script, keyed, account = 'tokyo-1' }: Options): ScriptedWarehouse {
  const book: Reservation[] = [];
  const counts = { posts: 0, gets: 0 };
  const postedAt: number[] = [];
  const hits = new Map<string, number>();
  const views: ScriptedWarehouse['views'] = [];
  const existing = (orderId: string) =>
    book.filter((each) => each.body['order_id'] === orderId && each.appliedAt <= clock.now());

  const apply = (request: WriteRequest, afterMs: number): Reservation => {
    const key = request.headers['idempotency-key'] ?? '';
    const known = keyed ? book.find((each) => each.key === key) : undefined;
    if (known !== undefined) return known;
    const body = JSON.parse(request.body) as Record<string, unknown>;
    const made = { id: `R-${book.length + 1}`, key, body, appliedAt: clock.now() + afterMs };
    book.push(made);
    return made;
  };

  const transport: Transport = async (request) => {
    const name = script[counts.posts] ?? 'plain';
    const play: Play = PLAYS[name];
    const refusal =
      play.answer !== 'created' && play.answer.kind === 'not_connected' ? null : await request.lastCheck();
    if (refusal !== null) return { kind: 'not_connected', detail: `withheld:${refusal}` };
    counts.posts += 1;
    postedAt.push(clock.now());
    hits.set(name, (hits.get(name) ?? 0) + 1);
    if (play.answer !== 'created' && play.answer.kind === 'sent_no_answer')
      await clock.sleep(request.timeoutMs);
    const made =
      play.applies === 'never'
        ? undefined
        : apply(request, play.applies === 'now' ? 0 : play.applies.afterMs);
    if (play.answer !== 'created') return play.answer;
    const body = JSON.stringify({ reservation_id: made?.id });
    return { kind: 'answered', status: 201, headers: {}, body, complete: true };
  };

  const get: ReadOnce = async (path) => {
    counts.gets += 1;
    const orderId = decodeURIComponent(path.replace('/orders/', ''));
    const reservations = existing(orderId).map(({ id, body }) => ({ reservation_id: id, ...body }));
    const honest = { order_id: orderId, warehouse: account, reservations };
    const view = views.shift();
    return view === undefined
      ? { kind: 'answered', status: 200, body: JSON.stringify(honest) }
      : view(honest);
  };

  return {
    transport,
    reader: () => get,
    effects: (orderId) => existing(orderId).length,
    posts: () => counts.posts,
    postedAt,
    gets: () => counts.gets,
    views,
    add: (orderId, body) => {
      book.push({
        id: `R-${book.length + 1}`,
        key: `alien-${book.length}`,
        body: { order_id: orderId, ...body },
        appliedAt: clock.now(),
      });
    },
    hits,
  };
}
