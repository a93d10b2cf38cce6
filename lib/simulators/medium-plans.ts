/** Which faults are planned and which were played, in the book, so that a restart replays none. */
import type { DatabaseSync } from 'node:sqlite';
import {
  isWriteFault,
  type Plan,
  planSchema,
  type ViewFault,
  type ViewFaultKind,
  type WriteFault,
  type WriteFaultKind,
} from './medium-faults.ts';

interface StoredPlan {
  readonly n: number;
  /** A part of the text of the posts that it is for; '' is in every text. */
  readonly match: string;
  readonly faults: Plan;
  /** Write faults that had their turn. */
  readonly taken: number;
}

export interface PlayedView {
  readonly match: string;
  readonly fault: ViewFault;
}

export function plans(db: DatabaseSync) {
  const stored = db.prepare('SELECT n, match, faults, taken FROM plans ORDER BY n');
  const remove = db.prepare('DELETE FROM plans WHERE match = ?');
  const insert = db.prepare('INSERT INTO plans (match, faults) VALUES (?, ?)');
  const clear = db.prepare('DELETE FROM plans');
  const all = () => stored.all().map(planOf);
  return {
    /** Replaces the plan of this match, which counts from zero; an empty one ends it. */
    planFaults: (match: string, faults: Plan): void => {
      remove.run(match);
      if (faults.length > 0) insert.run(match, JSON.stringify(faults));
    },
    clearFaults: (): void => {
      clear.run();
    },
    ...playing(db, all),
  };
}

function playing(db: DatabaseSync, all: () => StoredPlan[]) {
  const take = db.prepare('UPDATE plans SET taken = taken + 1 WHERE n = ?');
  const hit = db.prepare(
    'INSERT INTO played VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET hits = hits + 1 RETURNING hits',
  );
  const hits = db.prepare('SELECT hits FROM played WHERE plan = ? AND position = ?');
  return {
    /** The fault whose turn a POST of this text is, now recorded as played; null for an honest one. */
    playWriteFault: (text: string, applies: (kind: WriteFaultKind) => boolean): WriteFault | null => {
      for (const { n, match, faults, taken } of all()) {
        const [position, fault] = [...faults.entries()].filter(isWrite)[taken] ?? [0, undefined];
        if (fault === undefined || !text.includes(match) || !applies(fault.kind)) continue;
        take.run(n);
        if (fault.kind === 'honest') return null;
        hit.get(n, position, fault.kind);
        return fault;
      }
      return null;
    },
    /** Of each plan the first fault that has a use and hits left, and a skew beside it; recorded as played. */
    playViewFaults: (applies: (kind: ViewFaultKind, match: string) => boolean): PlayedView[] => {
      const played: PlayedView[] = [];
      for (const { n, match, faults } of all()) {
        const kinds = new Set<boolean>();
        for (const [position, fault] of faults.entries()) {
          if (isWriteFault(fault) || !applies(fault.kind, match)) continue;
          const beside = fault.kind === 'clock_skew_s';
          const used = Number(hits.get(n, position)?.['hits'] ?? 0);
          if (kinds.has(beside) || used >= (fault.times ?? Number.POSITIVE_INFINITY)) continue;
          kinds.add(beside);
          hit.get(n, position, fault.kind);
          played.push({ match, fault });
        }
      }
      return played;
    },
  };
}

function isWrite(entry: [number, WriteFault | ViewFault]): entry is [number, WriteFault] {
  return isWriteFault(entry[1]);
}

function planOf(row: Record<string, unknown>): StoredPlan {
  return {
    n: Number(row['n']),
    match: String(row['match']),
    faults: planSchema.parse(JSON.parse(String(row['faults']))),
    taken: Number(row['taken']),
  };
}
