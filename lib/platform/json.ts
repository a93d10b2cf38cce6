/** Strict JSON at the edge: no duplicate names, no number that JavaScript would change, bounded in size. */
import { isSafeNumber, parse } from 'lossless-json';

export interface JsonLimits {
  readonly depth: number;
  /** Members and elements altogether. */
  readonly members: number;
  /** UTF-16 units of one string. */
  readonly string: number;
}

export const REQUEST_LIMITS: JsonLimits = { depth: 16, members: 500, string: 32_768 };
export const ANSWER_LIMITS: JsonLimits = { depth: 64, members: 200_000, string: 1_048_576 };

export class BadJson extends Error {
  override readonly name = 'BadJson';
  /** JSON Pointer to what is refused, where it is one place. */
  readonly pointer: string | undefined;
  constructor(message: string, pointer?: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** Throws `BadJson`, its message made of our own words only. */
export function parseJson(text: string, limits: JsonLimits): unknown {
  let value: unknown;
  try {
    value = parse(text, undefined, { parseNumber, onDuplicateKey });
    // The parser lets a repeated member pass when its value is equal.
    if (namesIn(text) !== membersOf(value)) onDuplicateKey();
  } catch (error) {
    if (error instanceof BadJson) throw error;
    throw new BadJson('The body is not one JSON value.');
  }
  check(value, limits, refuseHalves);
  return value;
}

/**
 * For answers of providers. Numbers that are too long for JavaScript come back as strings, because ids may be long.
 * Half a character, which is what a text cut in UTF-16 ends in, comes back as U+FFFD: one such text must not make
 * everything beside it unreadable, and nothing that stores or hashes text can take it.
 */
export function parseAnswer(text: string): unknown {
  const value = parse(text, undefined, {
    parseNumber: (digits) => (isSafeNumber(digits) ? Number(digits) : digits),
    onDuplicateKey,
  });
  check(value, ANSWER_LIMITS, () => undefined);
  return MAY_HOLD_HALVES.test(text) ? withoutHalves(value) : value;
}

const MAY_HOLD_HALVES = /\\u[dD][89a-fA-F]|\p{Surrogate}/u;

/** Of a value that is no deeper than the limits. Names that become equal are one name twice. */
function withoutHalves(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withoutHalves);
  const members = Object.entries(value).map(([name, member]) => [name.toWellFormed(), withoutHalves(member)]);
  if (new Set(members.map(([name]) => name)).size !== members.length) onDuplicateKey();
  return Object.fromEntries(members);
}

function parseNumber(digits: string): number {
  const value = Number(digits);
  if (!Number.isFinite(value) || !isSafeNumber(digits)) {
    throw new BadJson('A number in the body cannot be kept exactly; send it as a string.');
  }
  return value;
}

/** Member names in a text that is known to be JSON: there, only a name is a string before a colon. */
function namesIn(text: string): number {
  let names = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) names += colon === undefined ? 0 : 1;
  return names;
}

function membersOf(root: unknown): number {
  let members = 0;
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (value === null || typeof value !== 'object') continue;
    if (!Array.isArray(value)) members += Object.keys(value).length;
    stack.push(...Object.values(value));
  }
  return members;
}

function onDuplicateKey(): never {
  throw new BadJson('An object in the body names a member twice.');
}

interface Place {
  readonly value: unknown;
  readonly depth: number;
  readonly pointer: string;
}

type TextCheck = (text: string, pointer: string, what: string) => void;

function check(root: unknown, limits: JsonLimits, checkText: TextCheck): void {
  let members = 0;
  const stack: Place[] = [{ value: root, depth: 1, pointer: '' }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { value, depth, pointer } = at;
    if (typeof value === 'string') {
      checkLength(value, limits);
      checkText(value, pointer, 'A string');
    }
    if (value === null || typeof value !== 'object') continue;
    if (depth > limits.depth) throw new BadJson(`The body is nested deeper than ${limits.depth}.`);
    for (const [name, member] of Object.entries(value)) {
      members += 1;
      if (members > limits.members) throw new BadJson(`The body has more than ${limits.members} members.`);
      if (!Array.isArray(value)) {
        checkLength(name, limits);
        checkText(name, pointer, 'A member name');
      }
      // Libraries drop this name or follow it; nobody needs it.
      if (name === '__proto__') throw new BadJson('An object in the body names a member "__proto__".');
      stack.push({ value: member, depth: depth + 1, pointer: below(pointer, name) });
    }
  }
}

/** Longer pointers end at an ancestor of what they speak of. */
const LONGEST_POINTER = 512;

function below(pointer: string, name: string): string {
  const longer = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return longer.length > LONGEST_POINTER ? pointer : longer;
}

function checkLength(text: string, limits: JsonLimits): void {
  if (text.length > limits.string) throw new BadJson(`A string in the body is longer than ${limits.string}.`);
}

function refuseHalves(text: string, pointer: string, what: string): void {
  if (text.isWellFormed()) return;
  const at = text.search(/\p{Surrogate}/u);
  throw new BadJson(
    `${what} in the body holds half a character (a lone surrogate) at position ${at}.`,
    pointer,
  );
}
