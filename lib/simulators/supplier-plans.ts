/** Which faults are planned and which were played, in the book, so that a restart replays none. */
import type { DatabaseSync } from 'node:sqlite';
import type { Call } from './supplier-calls.ts';
import {
  isWriteFault,
  type Plan,
  planByName,
  planSchema,
  type ViewFault,
  type ViewFaultKind,
  type WriteFault,
} from './supplier-faults.ts';

export function plans(db: DatabaseSync) {
  const stored = db.prepare('SELECT generation, faults FROM plans WHERE call = ? AND purchase_order = ?');
  const replace = db.prepare(
    `INSERT INTO plans VALUES (?, ?, 1, ?)
     ON CONFLICT DO UPDATE SET generation = generation + 1, faults = excluded.faults`,
  );
  const planOf = (call: Call, purchaseOrder: string): { generation: number; faults: Plan } => {
    const row = stored.get(call, purchaseOrder);
    if (row === undefined) return { generation: 0, faults: planByName(call, purchaseOrder) };
    return {
      generation: Number(row['generation']),
      faults: planSchema.parse(JSON.parse(String(row['faults']))),
    };
  };
  return {
    /** Replaces the plan, which counts from zero; an empty one ends all faults, also those by name. */
    planFaults: (call: Call, purchaseOrder: string, faults: Plan): void => {
      replace.run(call, purchaseOrder, JSON.stringify(faults));
    },
    ...playing(db, planOf),
  };
}

function playing(
  db: DatabaseSync,
  planOf: (call: Call, purchaseOrder: string) => { generation: number; faults: Plan },
) {
  const turn = db.prepare(
    'INSERT INTO turns VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET taken = taken + 1 RETURNING taken',
  );
  const hit = db.prepare(
    'INSERT INTO played VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET hits = hits + 1',
  );
  const hits = db.prepare(
    'SELECT hits FROM played WHERE call = ? AND purchase_order = ? AND generation = ? AND position = ?',
  );
  return {
    /** The fault whose turn this POST is, now recorded as played; null for an honest one. */
    playWriteFault: (call: Call, purchaseOrder: string): WriteFault | null => {
      const { generation, faults } = planOf(call, purchaseOrder);
      const writes = [...faults.entries()].filter((entry): entry is [number, WriteFault] =>
        isWriteFault(entry[1]),
      );
      if (writes.length === 0) return null;
      const taken = Number(turn.get(call, purchaseOrder, generation)?.['taken']);
      const [position, fault] = writes[taken - 1] ?? [0, { kind: 'honest' as const }];
      if (fault.kind === 'honest') return null;
      hit.run(call, purchaseOrder, generation, position, fault.kind);
      return fault;
    },
    /** The first fault that has a use and hits left, and `paged` beside it; all recorded as played. */
    playViewFaults: (
      call: Call,
      purchaseOrder: string,
      applies: (kind: ViewFaultKind) => boolean,
    ): ViewFault[] => {
      const { generation, faults } = planOf(call, purchaseOrder);
      const played: ViewFault[] = [];
      for (const [position, fault] of faults.entries()) {
        if (isWriteFault(fault) || !applies(fault.kind)) continue;
        if (fault.kind !== 'paged' && played.some(({ kind }) => kind !== 'paged')) continue;
        const used = Number(hits.get(call, purchaseOrder, generation, position)?.['hits'] ?? 0);
        if (fault.times !== undefined && used >= fault.times) continue;
        hit.run(call, purchaseOrder, generation, position, fault.kind);
        played.push(fault);
      }
      return played;
    },
  };
}
