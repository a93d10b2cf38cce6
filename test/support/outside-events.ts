/** Signed events from outside for a world in memory, past the edge; and a ledger that loses its caller at one save. */
import type { Intent } from '../../lib/domain/intent.ts';
import { type Ledger, LedgerUnavailable } from '../../lib/ledger/ledger.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import type { Deps } from '../../lib/workflow/deps.ts';
import { speaksOfEffect, takeEvidence } from '../../lib/workflow/take-evidence.ts';
import { type World, type WorldOptions, world } from './world.ts';

/** What an event tells. An id that was taken before is the same event. */
export interface Told {
  readonly id: string;
  readonly reference: string | null;
  readonly externalId: string;
  /** `order.created` unless said otherwise. */
  readonly type?: string;
}
export type Tell = (told: Told, deps?: Deps) => Promise<void>;

/** The world from here on takes events for `routes`, whose effects are of `kind`. */
export function listenFor(w: World, routes: readonly string[], kind: string): Tell {
  const ways = w.deps.routes.all;
  const webhook = { endpoint: 'hook', tenant: 'acme', routes, secretRefs: ['local:hook'] };
  const providers = new Map(ways.map(({ provider }) => [provider.name, provider]));
  w.deps.routes = registryOf(
    ways.map(({ route }) => route),
    [...providers.values()],
    [webhook],
  );
  return ({ type = 'order.created', ...told }, deps = w.deps) => {
    const receivedAt = w.clock.now();
    return takeEvidence(deps)({
      endpoint: 'hook',
      receivedAt,
      type,
      seen: speaksOfEffect(type),
      account: 'tokyo-1',
      environment: 'test',
      kind,
      digest: 'd',
      matchedTo: null,
      dueAt: receivedAt + 60_000,
      changes: 0,
      ...told,
    });
  };
}

export interface Listening {
  readonly w: World;
  readonly tell: Tell;
}

/** A world of its own that takes events of its warehouse. */
export function listening(options: WorldOptions = {}): Listening {
  const w = world(options);
  return { w, tell: listenFor(w, ['warehouse'], 'reservation') };
}

/** The caller dies right after the first save that `when` holds for: it is written, and nobody hears of it. */
export function cutAfterSave(when: (before: Intent, after: Intent) => boolean): {
  readonly hits: () => number;
  readonly wrap: (ledger: Ledger) => Ledger;
} {
  let hits = 0;
  return {
    hits: () => hits,
    wrap: (ledger) => ({
      ...ledger,
      save: async (before, after, guard) => {
        const saved = await ledger.save(before, after, guard);
        if (hits > 0 || !when(before, after)) return saved;
        hits += 1;
        throw new LedgerUnavailable('It was saved, and the answer was lost.');
      },
    }),
  };
}
