/** The file of a simulator's book: how it is opened, changed as one, and what every book says of faults and POSTs. */
import { DatabaseSync } from 'node:sqlite';

/**
 * The file is made when it is not there; its folder must be.
 *
 * @param durable false gives up safety against power loss (not against kill -9); for tests and benches.
 */
export function openForWriting(file: string, schema: string, durable: boolean): DatabaseSync {
  const db = openFile(file, false);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durable ? 'FULL' : 'OFF'};`);
  db.exec(schema);
  return db;
}

export function openForReading(file: string): DatabaseSync {
  return openFile(file, true);
}

function openFile(file: string, readOnly: boolean): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 5_000, readOnly });
  } catch (cause) {
    throw new Error(`Cannot open the book "${file}": no such folder or file, or not permitted`, { cause });
  }
}

/** Reads the file of a simulator that runs, ended or died; changes nothing. */
export function readFileOf<Truth>(file: string, truthOf: (db: DatabaseSync) => Truth): Truth {
  const db = openForReading(file);
  try {
    return truthOf(db);
  } finally {
    db.close();
  }
}

/** Runs `work` in one transaction; what throws leaves nothing behind. */
export function atomically<T>(
  db: DatabaseSync,
  work: () => T,
  mode: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE',
): T {
  db.exec(`BEGIN ${mode}`);
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

type Row = Readonly<Record<string, unknown>>;

/** How often each kind of fault was played, ever. */
export function faultsPlayed(db: DatabaseSync): Readonly<Record<string, number>> {
  const hits = db.prepare('SELECT kind, sum(hits) AS hits FROM played GROUP BY kind ORDER BY kind');
  return Object.fromEntries(hits.all().map((row) => [String(row['kind']), Number(row['hits'])]));
}

/** What became of a POST. */
export interface TrueOutcome {
  /** When it arrived whole. */
  readonly at: string;
  /** null where nothing was answered. */
  readonly status: number | null;
  readonly fault: string | null;
}

export function outcomeOf(row: Row): TrueOutcome {
  return {
    at: timeOf(row['at']),
    status: row['status'] === null ? null : Number(row['status']),
    fault: textOf(row['fault']),
  };
}

/** UTC, with milliseconds. */
export function timeOf(ms: unknown): string {
  return new Date(Number(ms)).toISOString();
}

export function textOf(value: unknown): string | null {
  return value === null ? null : String(value);
}
