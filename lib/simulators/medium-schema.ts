/** The tables of a medium's book, and how its file is opened for writing. */
import { DatabaseSync } from 'node:sqlite';

// The ids start above 2^62, so that a reader who makes a number of one loses digits and is noticed.
// `sent_text` is what was asked for; `text` is what the medium made of it, or a person since.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY, handle TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS posts (
  n INTEGER PRIMARY KEY AUTOINCREMENT, author_id TEXT NOT NULL REFERENCES accounts (id),
  text TEXT NOT NULL, sent_text TEXT NOT NULL, parent TEXT, created_at INTEGER NOT NULL,
  saved_at INTEGER NOT NULL, visibility TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0,
  media TEXT NOT NULL, links TEXT NOT NULL, sent INTEGER NOT NULL,
  id TEXT GENERATED ALWAYS AS ('' || (4611686018427387904 + n)) VIRTUAL) STRICT;
CREATE INDEX IF NOT EXISTS posts_id ON posts (id);
CREATE INDEX IF NOT EXISTS posts_author ON posts (author_id, created_at);
CREATE TABLE IF NOT EXISTS media (
  n INTEGER PRIMARY KEY AUTOINCREMENT, content_type TEXT NOT NULL, alt TEXT, bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL, reencoded_sha256 TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
  at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0,
  media_id TEXT GENERATED ALWAYS AS ('m' || n) VIRTUAL) STRICT;
CREATE INDEX IF NOT EXISTS media_id ON media (media_id);
CREATE TABLE IF NOT EXISTS short_links (n INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS requests (
  n INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT, text TEXT, parent TEXT, at INTEGER NOT NULL,
  status INTEGER, fault TEXT) STRICT;
CREATE TABLE IF NOT EXISTS pending (
  n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, due_at INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS plans (
  n INTEGER PRIMARY KEY AUTOINCREMENT, match TEXT NOT NULL UNIQUE, faults TEXT NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE IF NOT EXISTS played (
  plan INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, hits INTEGER NOT NULL,
  PRIMARY KEY (plan, position)) STRICT;
CREATE TABLE IF NOT EXISTS rewrites (one INTEGER PRIMARY KEY CHECK (one = 1), words TEXT NOT NULL) STRICT;`;

/** The file is made when it is not there; its folder must be. */
export function openMediumFile(file: string, durable: boolean): DatabaseSync {
  let db: DatabaseSync;
  try {
    db = new DatabaseSync(file, { timeout: 5_000 });
  } catch (cause) {
    throw new Error(`Cannot open the book "${file}": no such folder or file, or not permitted`, { cause });
  }
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durable ? 'FULL' : 'OFF'};`);
  db.exec(SCHEMA);
  return db;
}
