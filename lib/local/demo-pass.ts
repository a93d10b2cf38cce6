/** One pass of the demo: submits every order over HTTP as a caller would, and waits until each has settled. */
import type { IntentView } from '../operations/trail.ts';
import { systemClock } from '../platform/clock.ts';
import { readBook } from '../simulators/warehouse-book.ts';
import { SETTLED } from './demo-ending.ts';
import type { Order } from './orders.ts';
import type { Service } from './service.ts';

export interface Row {
  readonly key: string;
  readonly route: string;
  readonly state: string | null;
  readonly report: string;
  readonly attempts: number;
  /** Reservations in the warehouse's own book. */
  readonly effects: number;
  readonly externalId: string | null;
  readonly errorKinds: readonly string[];
  readonly conflicts: number;
  readonly seconds: number;
}

export interface Pass {
  readonly rows: readonly Row[];
  /** What the warehouse's book holds after the pass, ids by order. */
  readonly book: ReadonlyMap<string, readonly string[]>;
  /** POSTs that ever reached the warehouse, by order. */
  readonly posts: ReadonlyMap<string, number>;
  /** What each of them was answered, in order: a status, or `none`. */
  readonly answers: readonly string[];
}

const LONGEST_MS = 45_000;
const POLL_MS = 100;
const AT_ONCE = 8;

type Orders = ReadonlyMap<string, readonly Order[]>;
type Ending = Omit<Row, 'effects'>;

export async function runPass(
  service: Service,
  orders: Orders,
  bookFile: string,
  progress: (done: number, all: number) => void,
): Promise<Pass> {
  const queue = [...orders.entries()];
  const endings: Ending[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      endings.push(await settle(service, next[0], next[1]));
      progress(endings.length, orders.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const counted = countIn(bookFile);
  const order = [...orders.keys()];
  const rows = endings
    .map((ending) => rowOf(ending, counted.book.get(ending.key)?.length ?? 0))
    .sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key));
  return { rows, ...counted };
}

/** In the order in which the lines are printed. */
function rowOf(ending: Ending, effects: number): Row {
  const { key, route, state, report, attempts, externalId, errorKinds, conflicts, seconds } = ending;
  return { key, route, state, report, attempts, effects, externalId, errorKinds, conflicts, seconds };
}

function countIn(file: string): Omit<Pass, 'rows'> {
  const book = readBook(file);
  try {
    return {
      book: new Map(book.effects().map((each) => [each.orderId, each.reservationIds])),
      posts: new Map(book.posts().map((each) => [each.orderId, each.count])),
      answers: book.answers(),
    };
  } finally {
    book.close();
  }
}

/** Lines of one key go in file order, one after the other. */
async function settle(service: Service, key: string, lines: readonly Order[]): Promise<Ending> {
  const startedAt = systemClock.now();
  let location: string | undefined;
  let refusal = '';
  for (const line of lines) {
    const answer = await submit(service, line);
    location ??= answer.location;
    refusal ||= answer.refusal;
  }
  const view = location === undefined ? undefined : await untilSettled(service, location);
  const seconds = Math.round((systemClock.now() - startedAt) / 100) / 10;
  const route = lines[0]?.route ?? '';
  if (view === undefined) {
    const none = { state: null, report: 'rejected', attempts: 0, externalId: null, conflicts: 0 };
    return { key, route, ...none, errorKinds: [refusal], seconds };
  }
  const { state, report, attempts, externalId, errorKinds, conflicts } = view;
  return { key, route, state, report, attempts, externalId, errorKinds, conflicts, seconds };
}

async function submit(service: Service, { route, key, caller, payload }: Order) {
  const token = caller === undefined ? service.tokens.submitter : service.tokens.callers[caller];
  const response = await fetch(`${service.url}/intents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'idempotency-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ route, payload }),
  });
  const body = (await response.json()) as { type?: string };
  const name = body.type?.split('/').at(-1)?.replaceAll('-', '_') ?? `status_${response.status}`;
  return { location: response.headers.get('location') ?? undefined, refusal: response.ok ? '' : name };
}

/** Asks until the intent has settled or the time is over; then it stands as it is, and is counted so. */
async function untilSettled(service: Service, location: string): Promise<IntentView> {
  const deadline = systemClock.now() + LONGEST_MS;
  for (;;) {
    const response = await fetch(`${service.url}${location}`, {
      headers: { authorization: `Bearer ${service.tokens.submitter}` },
    });
    const view = (await response.json()) as IntentView;
    if (SETTLED.includes(view.state) || systemClock.now() >= deadline) return view;
    await systemClock.sleep(POLL_MS);
  }
}
