/**
 * The warehouse's own book: one SQLite file, the only truth that a test may count. It holds the
 * reservations, every POST that reached the server, the fault plans and which faults were played, so that
 * a restarted warehouse (also after kill -9) goes on where it was. Knows nothing of HTTP and nothing of
 * the product; times come in as `now`, ms since the epoch.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import * as z from 'zod';
import { atomically, openForReading, openForWriting } from './book-file.ts';

/** Faults of a POST, and when the reservation is saved: with the answer, within the apply delay, or never. */
export const WRITE_FAULTS = {
  /** Answers `status`, saves nothing. */
  status_before_commit: 'never',
  /** Resets the connection, saves nothing. */
  before_reset: 'never',
  /** Never answers, saves nothing. */
  no_answer_no_save: 'never',
  /** Closes without an answer, saves within the declared apply delay. Lost if the warehouse stops before. */
  late_commit: 'later',
  /** Saves, closes without an answer. */
  close_after_commit: 'now',
  /** Saves, never answers. */
  stall_after_commit: 'now',
  /** Saves, answers `status`. */
  status_after_commit: 'now',
  /** Saves, answers with a content-length and half of that body. */
  cut_after_commit: 'now',
  /** Saves, answers 200 as for a key it knew. */
  replay: 'now',
  /** Saves, answers 201 with HTML. */
  garbage_after_commit: 'now',
  /** Saves, answers 307 to the same address. */
  redirect_after_commit: 'now',
  /** Saves, answers with the id of no reservation. */
  wrong_id: 'now',
  /** Saves, answers without an id. */
  no_id: 'now',
} as const;

/** Faults of a GET: lies about what is there. None of them touches the book. */
export const VIEW_FAULTS = {
  /** Hides a reservation until the declared visibility lag has passed. */
  get_lag: true,
  /** Shows two invented reservations beside the real ones. Plays once there is a real one. */
  get_three: true,
  /** Shows none. Plays once there is one to hide. */
  get_empty: true,
  /** Shows one unit too many. Plays once there is a reservation. */
  get_mismatch: true,
  /** Names another account. */
  get_wrong_warehouse: true,
  /** Answers `status`. */
  get_status: true,
  /** Answers 200 with HTML. */
  get_garbage: true,
  /** Closes without an answer. */
  get_close: true,
  /** Never answers. */
  get_stall: true,
} as const;

export type WriteFaultKind = keyof typeof WRITE_FAULTS;
export type ViewFaultKind = keyof typeof VIEW_FAULTS;

/** One fault: its kind, how many requests it plays on (1 unless told), and a status for the kinds that need one. */
export const faultSchema = z.strictObject({
  kind: z.enum([...names(WRITE_FAULTS), ...names(VIEW_FAULTS)]),
  times: z.union([z.int().min(1).max(1_000_000), z.literal('always')]).default(1),
  status: z.int().min(200).max(599).default(503),
});
export type Fault = z.infer<typeof faultSchema>;
type FaultOf<Kind extends Fault['kind']> = Omit<Fault, 'kind'> & { readonly kind: Kind };

const faultListSchema = z.array(faultSchema).max(10);

/** The faults that a fresh warehouse plays by itself, by exact order id. A plan in the book replaces them. */
export const BUILT_IN_FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'ORD-BEFORE': [{ kind: 'status_before_commit', times: 1, status: 503 }],
  'ORD-AFTER': [{ kind: 'close_after_commit', times: 1, status: 503 }],
  'ORD-STALL': [{ kind: 'stall_after_commit', times: 1, status: 503 }],
  'ORD-500': [{ kind: 'status_after_commit', times: 1, status: 500 }],
  'ORD-CUT': [{ kind: 'cut_after_commit', times: 1, status: 503 }],
  'ORD-THREE': [{ kind: 'get_three', times: 'always', status: 503 }],
  'ORD-LAG': [{ kind: 'get_lag', times: 'always', status: 503 }],
};

export interface ReservationRequest {
  readonly orderId: string;
  readonly sku: string;
  readonly quantity: number;
}

export interface Reservation extends ReservationRequest {
  /** `R-` and 19 digits, by order of insertion; never a number. */
  readonly reservationId: string;
  readonly appliedAt: number;
}

/** `same`: the key and the body were known. `conflict`: the key was known with another body; nothing new. */
export type Reserved =
  | { readonly kind: 'created' | 'same'; readonly reservation: Reservation }
  | { readonly kind: 'conflict' };

export type Book = ReturnType<typeof openBook>;

/**
 * Opens the book for its one warehouse, making the file when it is not there (its folder must be).
 *
 * @param durable false gives up safety against power loss (not against kill -9); for benches only.
 */
export function openBook(file: string, durable = true) {
  const db = openForWriting(file, SCHEMA, durable);
  return {
    ...reservations(db),
    ...requests(db),
    ...faults(db),
    /** Runs `work` in one transaction; what throws leaves nothing behind. */
    atomically: <T>(work: () => T): T => atomically(db, work),
    close: () => db.close(),
  };
}

/** Opens the book read-only, to count from another process while the warehouse runs or after it died. */
export function readBook(file: string) {
  const db = openForReading(file);
  const effects = db.prepare('SELECT order_id, reservation_id FROM reservations ORDER BY n');
  const posts = db.prepare(COUNT_POSTS);
  const answers = db.prepare('SELECT answer FROM requests ORDER BY n');
  return {
    /** What each POST was answered, in order: a status, or `none`. */
    answers: (): string[] => answers.all().map((row) => String(row['answer'])),
    /** Every order with a reservation, ids in order of insertion. */
    effects: (): { orderId: string; reservationIds: string[] }[] => {
      const byOrder = Map.groupBy(effects.all(), (row) => String(row['order_id']));
      return [...byOrder].map(([orderId, rows]) => ({
        orderId,
        reservationIds: rows.map((row) => String(row['reservation_id'])),
      }));
    },
    /** POSTs that reached the warehouse whole; those that named no usable order id count under ''. */
    posts: (): { orderId: string; count: number }[] =>
      posts.all().map((row) => ({ orderId: String(row['order_id']), count: Number(row['count']) })),
    close: () => db.close(),
  };
}

// The ids start above 2^62, so that a reader who makes a number of one loses digits and is noticed.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS reservations (
  n INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
  order_id TEXT NOT NULL, sku TEXT NOT NULL, quantity INTEGER NOT NULL, applied_at INTEGER NOT NULL,
  reservation_id TEXT GENERATED ALWAYS AS ('R-' || (4611686018427387904 + n)) VIRTUAL
) STRICT;
CREATE INDEX IF NOT EXISTS reservations_of ON reservations (order_id);
CREATE TABLE IF NOT EXISTS requests (
  n INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  body_digest TEXT NOT NULL, answer TEXT NOT NULL DEFAULT 'none'
) STRICT;
CREATE INDEX IF NOT EXISTS requests_of ON requests (order_id);
CREATE TABLE IF NOT EXISTS plans (
  order_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, faults TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS played (
  order_id TEXT NOT NULL, generation INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
  hits INTEGER NOT NULL, PRIMARY KEY (order_id, generation, position)
) STRICT;`;

const COUNT_POSTS = 'SELECT order_id, count(*) AS count FROM requests GROUP BY order_id ORDER BY order_id';
const UNIQUE_BROKEN = 2067;

function reservations(db: DatabaseSync) {
  const insert = db.prepare(
    'INSERT INTO reservations (key, order_id, sku, quantity, applied_at) VALUES (?, ?, ?, ?, ?) RETURNING *',
  );
  const byKey = db.prepare('SELECT * FROM reservations WHERE key = ?');
  const byOrder = db.prepare('SELECT * FROM reservations WHERE order_id = ? ORDER BY n');
  const counts = db.prepare('SELECT order_id, count(*) AS count FROM reservations GROUP BY order_id');
  return {
    /** Stores key, body and reservation in one statement; the unique constraint decides, not a look before. */
    reserve: (key: string, request: ReservationRequest, now: number): Reserved => {
      const { orderId, sku, quantity } = request;
      const row = insertOnce(insert, [key, orderId, sku, quantity, now]);
      if (row !== undefined) return { kind: 'created', reservation: reservationOf(row) };
      const stored = reservationOf(byKey.get(key) ?? {});
      const same = stored.orderId === orderId && stored.sku === sku && stored.quantity === quantity;
      return same ? { kind: 'same', reservation: stored } : { kind: 'conflict' };
    },
    /** In order of insertion. */
    reservationsOf: (orderId: string): Reservation[] => byOrder.all(orderId).map(reservationOf),
    /** Reservations per order id. */
    effects: (): Map<string, number> => countMap(counts),
  };
}

/** undefined when the key is taken. */
function insertOnce(insert: StatementSync, values: readonly (string | number)[]) {
  try {
    return insert.get(...values);
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === UNIQUE_BROKEN) return undefined;
    throw error;
  }
}

function requests(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO requests (order_id, key, at, body_digest) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE requests SET answer = ? WHERE n = ?');
  const total = db.prepare('SELECT count(*) AS count FROM requests');
  const perOrder = db.prepare(COUNT_POSTS);
  return {
    /** Records one POST before anything is done about it; `orderId` is '' when the body names none. */
    recordPost: (post: { orderId: string; key: string; at: number; bodyDigest: string }): number =>
      Number(insert.run(post.orderId, post.key, post.at, post.bodyDigest).lastInsertRowid),
    /** The status that goes out for a recorded POST; without it the record says `none`. */
    recordAnswer: (post: number, status: number): void => {
      update.run(String(status), post);
    },
    posts: (): number => Number(total.get()?.['count']),
    postsPerOrder: (): Map<string, number> => countMap(perOrder),
  };
}

function faults(db: DatabaseSync) {
  const plan = db.prepare('SELECT generation, faults FROM plans WHERE order_id = ?');
  const setPlan = db.prepare(
    `INSERT INTO plans VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET generation = generation + 1, faults = excluded.faults`,
  );
  const hits = db.prepare('SELECT hits FROM played WHERE order_id = ? AND generation = ? AND position = ?');
  const hit = db.prepare(
    'INSERT INTO played VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET hits = hits + 1',
  );
  const perKind = db.prepare('SELECT kind, sum(hits) AS count FROM played GROUP BY kind');

  const planOf = (orderId: string): { generation: number; faults: readonly Fault[] } => {
    const row = plan.get(orderId);
    if (row === undefined) return { generation: 0, faults: builtInFaults(orderId) };
    return {
      generation: Number(row['generation']),
      faults: faultListSchema.parse(JSON.parse(String(row['faults']))),
    };
  };
  const play = <F extends Fault>(orderId: string, due: (fault: Fault) => fault is F): F | null => {
    const { generation, faults } = planOf(orderId);
    for (const [position, fault] of faults.entries()) {
      if (!due(fault)) continue;
      const played = Number(hits.get(orderId, generation, position)?.['hits'] ?? 0);
      if (fault.times !== 'always' && played >= fault.times) continue;
      hit.run(orderId, generation, position, fault.kind);
      return fault;
    }
    return null;
  };
  return {
    /** Replaces the order's plan, whose faults count from zero; an empty list ends all faults of that order. */
    planFaults: (orderId: string, list: readonly Fault[]): void => {
      setPlan.run(orderId, JSON.stringify(faultListSchema.parse(list)));
    },
    /** The fault to play on this POST, now recorded as played; null for an honest answer. */
    playWriteFault: (orderId: string) => play(orderId, isWriteFault),
    /** The same for a GET. Kinds that `applies` refuses are left for a later request. */
    playViewFault: (orderId: string, applies: (kind: ViewFaultKind) => boolean) =>
      play(orderId, (fault): fault is FaultOf<ViewFaultKind> => isViewFault(fault) && applies(fault.kind)),
    /** How often each kind was played, ever. */
    faultHits: (): Map<string, number> =>
      new Map(perKind.all().map((row) => [String(row['kind']), Number(row['count'])])),
  };
}

function isWriteFault(fault: Fault): fault is FaultOf<WriteFaultKind> {
  return Object.hasOwn(WRITE_FAULTS, fault.kind);
}

function isViewFault(fault: Fault): fault is FaultOf<ViewFaultKind> {
  return Object.hasOwn(VIEW_FAULTS, fault.kind);
}

function builtInFaults(orderId: string): readonly Fault[] {
  return Object.hasOwn(BUILT_IN_FAULTS, orderId) ? (BUILT_IN_FAULTS[orderId] ?? []) : [];
}

const rowSchema = z.object({
  reservation_id: z.string(),
  order_id: z.string(),
  sku: z.string(),
  quantity: z.number(),
  applied_at: z.number(),
});

function reservationOf(row: unknown): Reservation {
  const stored = rowSchema.parse(row);
  return {
    reservationId: stored.reservation_id,
    orderId: stored.order_id,
    sku: stored.sku,
    quantity: stored.quantity,
    appliedAt: stored.applied_at,
  };
}

function countMap(statement: StatementSync): Map<string, number> {
  return new Map(statement.all().map((row) => [String(row['order_id']), Number(row['count'])]));
}

function names<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table) as Name[];
}
