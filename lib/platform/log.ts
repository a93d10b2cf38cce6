/**
 * One JSON object per line, allow-listed fields only: no payload, no header, no provider text, no secret.
 * JSON escapes control characters; the two line separators that JSON allows are escaped here.
 */
import { utc } from './clock.ts';

export interface LogFields {
  readonly tenant?: string;
  readonly intentId?: string;
  readonly route?: string;
  readonly provider?: string;
  readonly state?: string;
  readonly attempt?: number;
  readonly token?: string;
  readonly code?: string;
  readonly externalId?: string | null;
  readonly reason?: string;
  readonly verdict?: string;
  readonly error?: string;
  readonly count?: number;
  readonly function?: string;
  readonly requestId?: string;
}

export type Level = 'info' | 'warn' | 'error';
export type Log = (level: Level, event: string, fields?: LogFields) => void;

const FIELDS: readonly (keyof LogFields)[] = [
  'tenant',
  'intentId',
  'route',
  'provider',
  'state',
  'attempt',
  'token',
  'code',
  'externalId',
  'reason',
  'verdict',
  'error',
  'count',
  'function',
  'requestId',
];
const LONGEST = 512;

export function logLine(level: Level, event: string, fields: LogFields, at: number): string {
  const allowed = FIELDS.flatMap((name) => {
    const value = fields[name];
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? value.slice(0, LONGEST) : value] as const];
  });
  const line = JSON.stringify({
    at: utc(at),
    level,
    event,
    ...Object.fromEntries(allowed),
  });
  return line.replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');
}

/** Writes to standard error, which Lambda sends to the function's log group. */
export function logTo(write: (line: string) => unknown, now: () => number): Log {
  return (level, event, fields = {}) => {
    write(`${logLine(level, event, fields, now())}\n`);
  };
}

/** The name of an error's class, never its message: messages may quote data. */
export function errorName(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  const cause = error instanceof Error && error.cause instanceof Error ? `(${error.cause.name})` : '';
  return `${name}${cause}`;
}
