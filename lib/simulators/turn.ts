/** One moment of a simulator: what is decided in it is in the book, whole, before anything goes out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, parsed, put, refused, TOO_LARGE, type Wire, wholeBody } from './wire.ts';

const JSON_TYPE = /^application\/json\s*(;|$)/i;

interface Booked {
  readonly book: { atomically<T>(work: () => T): T };
}

/** Work inside one transaction at one moment. What is in `after` runs once it is committed. */
export interface Turn<House> {
  readonly house: House;
  readonly now: number;
  readonly after: (() => void)[];
}

export function commit<House extends Booked, T>(house: House, work: (turn: Turn<House>) => T): T {
  const turn: Turn<House> = { house, now: Date.now(), after: [] };
  const result = house.book.atomically(() => work(turn));
  for (const each of turn.after) each();
  return result;
}

/** A POST that is here whole. */
export interface Arrived {
  readonly at: number;
  /** Why it is not even read. */
  readonly refusal: Answer | undefined;
  /** undefined for what is not one JSON value in UTF-8. */
  readonly value: unknown;
}

/** Answers a POST of JSON in one turn. */
export async function takeWhole<House extends Booked & { readonly writeToken?: string }>(
  house: House,
  request: IncomingMessage,
  response: ServerResponse,
  perform: (turn: Turn<House>, arrived: Arrived) => Wire,
): Promise<void> {
  const bytes = await wholeBody(request);
  if (bytes === 'gone') return;
  const at = Date.now();
  const tooLarge = bytes === 'too_large';
  const refusal = tooLarge ? TOO_LARGE : refused(request, house.writeToken, JSON_TYPE);
  const arrived = { at, refusal, value: tooLarge ? undefined : parsed(bytes) };
  put(
    response,
    commit(house, (turn) => perform(turn, arrived)),
  );
}
