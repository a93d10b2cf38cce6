/**
 * Faults in a row for one intent: on its writes, on the looks after them, of the worker and of the server. Every row
 * below is played whole; rows of a seed are made so that every fault in them is met too.
 */
import type { CrashPoint } from '../support/crash.ts';
import { random } from '../support/schedule.ts';
import type { Fault } from './fault-proxy.ts';

/** What happens to the server, or to a held write, while a fault is played. */
export type Outside =
  | 'server_dies_before'
  | 'server_dies_during'
  | 'server_dies_after'
  | 'server_is_back'
  /** The first write that is held goes on and is answered. */
  | 'held_write_lands';

export interface FaultStep {
  /** The write, the read probe of a look, or a read of the record: ours, and then the one that a stranger makes. */
  readonly on: 'write' | 'probe' | 'record';
  readonly fault: Fault;
  readonly outside?: Outside;
}

export interface FaultSequence {
  readonly name: string;
  readonly because: string;
  /** For each request that it concerns one, in order. */
  readonly steps: readonly FaultStep[];
  /** Deaths of the worker at its POSTs, counted from 0. */
  readonly atPosts?: readonly CrashPoint[];
  /** Deaths of the worker at any call of ledger, POST or start of a run. */
  readonly atCalls?: readonly CrashPoint[];
  /** POSTs begun, a killed one included; left out where the server's own speed decides. */
  readonly attempts?: number;
}

const onWrite = (fault: Fault, outside?: Outside): FaultStep => ({
  ...{ on: 'write', fault },
  ...(outside === undefined ? {} : { outside }),
});
const onProbe = (fault: Fault, outside?: Outside): FaultStep => ({ ...onWrite(fault, outside), on: 'probe' });
const onRecord = (fault: Fault): FaultStep => ({ on: 'record', fault });

/** Of a readback: our own read goes well, and what strangers are shown does not come. */
const onPublicUrl = (fault: Fault): readonly FaultStep[] => [onRecord('cut_after_answer'), onRecord(fault)];

/** Every way to spoil a look. */
const BAD_LOOKS: readonly Fault[] = [
  ...(['cut_before_request', 'cut_in_request', 'cut_before_answer'] as const),
  ...(['cut_in_head', 'cut_in_body', 'stall', 'hold'] as const),
];
/** It is down for one look more. */
const SERVER_BACK = [onProbe('cut_before_answer'), onProbe('cut_before_request', 'server_is_back')];

export const SEQUENCES: readonly FaultSequence[] = [
  {
    name: 'two cuts',
    because: 'neither request was whole',
    steps: [onWrite('cut_before_request'), onWrite('cut_in_request')],
    attempts: 3,
  },
  {
    name: 'cut before, then after',
    because: 'the second was saved and found',
    steps: [onWrite('cut_in_request'), onWrite('cut_before_answer')],
    attempts: 2,
  },
  {
    name: 'held, then cut',
    because: 'the second was saved; the first comes last and changes nothing',
    steps: [onWrite('hold'), onWrite('cut_in_body')],
    attempts: 2,
  },
  {
    name: 'held twice',
    because: 'the third was saved; two more come last',
    steps: [onWrite('hold'), onWrite('hold')],
    attempts: 3,
  },
  {
    name: 'held, and lands while it is looked for',
    because: 'the look that met it failed, the next one found it',
    steps: [onWrite('hold'), onProbe('cut_in_head', 'held_write_lands')],
    attempts: 1,
  },
  {
    name: 'answer lost, then every bad look',
    because: 'a look that failed is no zero',
    steps: [onWrite('cut_before_answer'), ...BAD_LOOKS.map(onRecord)],
    attempts: 1,
  },
  {
    name: 'answered, then every bad probe',
    because: 'it is confirmed by a readback and by nothing else',
    steps: [...BAD_LOOKS.map((fault) => onProbe(fault)), onRecord('cut_after_answer')],
    attempts: 1,
  },
  {
    name: 'found, then its readback is cut',
    because: 'what was found is read back until that goes well',
    steps: [onWrite('cut_in_head'), onRecord('cut_after_answer'), ...BAD_LOOKS.map(onRecord)],
    attempts: 1,
  },
  {
    name: 'answered, then every bad look at its public URL',
    because: 'what strangers are not shown is not confirmed',
    steps: BAD_LOOKS.flatMap(onPublicUrl),
    attempts: 1,
  },
  {
    name: 'nothing saved, and bad looks between the writes',
    because: 'only a whole look opens the next write',
    steps: [
      ...[onWrite('cut_before_request'), onProbe('stall'), onRecord('cut_in_body')],
      ...[onWrite('stall'), onRecord('cut_before_answer')],
    ],
    attempts: 2,
  },
  {
    name: 'the server dies before the write',
    because: 'it was put again when the server was back',
    steps: [onWrite('cut_before_answer', 'server_dies_before'), ...SERVER_BACK],
    attempts: 2,
  },
  {
    name: 'the server dies with the write in it',
    because: 'saved or not, it is looked up first',
    steps: [onWrite('cut_before_answer', 'server_dies_during'), ...SERVER_BACK],
  },
  {
    name: 'the server dies after the write',
    because: 'what it saved outlived it',
    steps: [onWrite('cut_before_answer', 'server_dies_after'), ...SERVER_BACK],
    attempts: 1,
  },
  {
    name: 'cut, then killed before the next POST',
    because: 'the third was the first to arrive',
    steps: [onWrite('cut_before_request'), onProbe('cut_in_body')],
    atPosts: [{ at: 1, mode: 'kill_before' }],
    attempts: 3,
  },
  {
    name: 'cut, then killed after the next POST',
    because: 'the second arrived, and nobody wrote its answer down',
    steps: [onWrite('cut_in_request'), onRecord('cut_before_request')],
    atPosts: [{ at: 1, mode: 'kill_after' }],
    attempts: 2,
  },
  {
    name: 'killed, then held and killed again',
    because: 'nobody lived to see a POST fail',
    steps: [onWrite('hold'), onWrite('cut_after_answer')],
    atPosts: [
      { at: 0, mode: 'kill_before' },
      { at: 1, mode: 'kill_after' },
    ],
    attempts: 3,
  },
];

/** After these the PDS holds nothing yet, so that another write is sure to come. */
const UNSAVED = ['cut_before_request', 'cut_in_request', 'hold'] as const satisfies readonly Fault[];
const LAST = [
  ...(['cut_before_answer', 'cut_in_head', 'cut_in_body', 'cut_after_answer', 'stall'] as const),
  null,
] as const;

/** The same faults for the same seed. @param calls that a run without faults makes. */
export function sequenceOf(seed: number, calls: number): FaultSequence {
  const next = random(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(all: readonly [T, ...T[]] | readonly T[]): T => all[below(all.length)] as T;
  const repeated = <T>(count: number, make: () => T): readonly T[] => Array.from({ length: count }, make);
  const last = pick(LAST);
  return {
    name: `seed ${seed}`,
    because: `any row of faults ends in one post; again: npm run test:bluesky -- -t "seed ${seed}:"`,
    steps: [
      ...repeated(below(3), () => onWrite(pick(UNSAVED))),
      ...(last === null ? [] : [onWrite(last)]),
      ...repeated(1 + below(2), () => onProbe(pick(BAD_LOOKS))),
      ...repeated(below(3), () => onRecord(pick(BAD_LOOKS))),
      ...repeated(below(2), () => onPublicUrl(pick(BAD_LOOKS))).flat(),
    ],
    atCalls: repeated(below(2), () => ({
      at: below(calls),
      mode: pick<CrashPoint['mode']>(['kill_before', 'kill_after']),
    })),
  };
}
