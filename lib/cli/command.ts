/**
 * The command line: what people and scripts do from a terminal. It reaches the service over HTTP only and knows
 * nothing of the ledger. A verb gets its arguments and a terminal, and answers with an exit code; it never ends the
 * program itself, and what it prints of a file cannot move a cursor.
 */
import type { CallerSettings } from '../platform/caller-settings.ts';

export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Of the shell. */
  readonly settings: CallerSettings;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

export type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;

export const EXIT = {
  ok: 0,
  /** It was looked at, and something does not hold. */
  broken: 1,
  /** It was not looked at: wrong arguments, a file that cannot be read, a service that does not answer it. */
  usage: 2,
} as const;

/** Answered with the message, the usage of the verb and exit code 2. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage';
}

/** What `parseArgs` throws at a user's mistake. */
export function isUsage(error: unknown): error is Error {
  if (error instanceof BadUsage) return true;
  return (
    error instanceof TypeError && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
  );
}

/** A text of unknown origin as it may be printed: quoted, printable ASCII, at most 100 characters. */
export function quoted(text: string): string {
  return asciiJson(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}

/** JSON in one line of printable ASCII: whatever stands in it cannot move a cursor or turn a line round. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
