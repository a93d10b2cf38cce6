/** The tables of a supplier's book. */

// The ids start above 2^62, so that a reader who makes a number of one loses digits and is noticed.
// `slot` is the reference where the supplier promises that it is unique, else null.
const RECORD = (prefix: string) => `
  n INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, environment TEXT NOT NULL,
  purchase_order TEXT NOT NULL, reference TEXT, slot TEXT UNIQUE, content TEXT NOT NULL,
  status TEXT NOT NULL, created_at INTEGER NOT NULL,
  id TEXT GENERATED ALWAYS AS ('${prefix}' || (4611686018427387904 + n)) VIRTUAL`;

export const SUPPLIER_SCHEMA = `
CREATE TABLE IF NOT EXISTS orders (${RECORD('')},
  shipping TEXT NOT NULL DEFAULT 'not_shipped', cancel_until INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cancellations (${RECORD('C-')},
  order_id TEXT GENERATED ALWAYS AS (content ->> 'order_id') VIRTUAL) STRICT;
CREATE TABLE IF NOT EXISTS confirmations (${RECORD('M-')}) STRICT;
${['orders', 'cancellations', 'confirmations'].map(indexes).join('\n')}
CREATE UNIQUE INDEX IF NOT EXISTS one_cancellation ON cancellations (order_id) WHERE status = 'cancelled';
CREATE TABLE IF NOT EXISTS posts (
  n INTEGER PRIMARY KEY AUTOINCREMENT, call TEXT NOT NULL, purchase_order TEXT NOT NULL, reference TEXT,
  at INTEGER NOT NULL, status INTEGER, fault TEXT) STRICT;
CREATE INDEX IF NOT EXISTS posts_of ON posts (call, reference);
CREATE TABLE IF NOT EXISTS keys (
  call TEXT NOT NULL, key TEXT NOT NULL, first_at INTEGER NOT NULL, digest TEXT NOT NULL,
  status INTEGER, body TEXT, PRIMARY KEY (call, key)) STRICT;
CREATE TABLE IF NOT EXISTS pending (
  n INTEGER PRIMARY KEY AUTOINCREMENT, call TEXT NOT NULL, at INTEGER NOT NULL, due_at INTEGER NOT NULL,
  key TEXT, refused INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS plans (
  call TEXT NOT NULL, purchase_order TEXT NOT NULL, generation INTEGER NOT NULL, faults TEXT NOT NULL,
  PRIMARY KEY (call, purchase_order)) STRICT;
CREATE TABLE IF NOT EXISTS turns (
  call TEXT NOT NULL, purchase_order TEXT NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL,
  PRIMARY KEY (call, purchase_order, generation)) STRICT;
CREATE TABLE IF NOT EXISTS played (
  call TEXT NOT NULL, purchase_order TEXT NOT NULL, generation INTEGER NOT NULL, position INTEGER NOT NULL,
  kind TEXT NOT NULL, hits INTEGER NOT NULL,
  PRIMARY KEY (call, purchase_order, generation, position)) STRICT;
CREATE TABLE IF NOT EXISTS webhook (one INTEGER PRIMARY KEY CHECK (one = 1), target TEXT NOT NULL) STRICT;`;

function indexes(table: string): string {
  return `CREATE INDEX IF NOT EXISTS ${table}_id ON ${table} (id);
CREATE INDEX IF NOT EXISTS ${table}_reference ON ${table} (lower(reference));`;
}
