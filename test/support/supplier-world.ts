/**
 * The product beside one scripted supplier, with orders that people approve one by one. Whoever signs or revokes here is
 * written down apart from the product, so that a POST without a valid approval shows.
 */
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import type { ProviderPromise } from '../../lib/domain/promise.ts';
import type { Policy, Route } from '../../lib/domain/route.ts';
import { approve, revoke } from '../../lib/operations/approve.ts';
import { lookAgain } from '../../lib/operations/look-again.ts';
import { type QueueItem, queueItem } from '../../lib/operations/queue-item.ts';
import { type IntentView, viewOf } from '../../lib/operations/trail.ts';
import { PROVIDERS } from '../../lib/providers/registry.ts';
import type { SupplierKind } from '../../lib/providers/supplier-promises.ts';
import type { Acceptance, Submission } from '../../lib/workflow/accept.ts';
import type { Deps, RunInput } from '../../lib/workflow/deps.ts';
import { runInput } from '../../lib/workflow/runs.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { BY_APPROVAL, POLICY, routeTo } from './kit.ts';
import { type ScriptedSupplier, type SupplierSettings, scriptedSupplier } from './supplier-scripted.ts';
import { type World, type WorldOptions, world } from './world.ts';

export interface SupplierWorldOptions extends Omit<SupplierSettings, 'kind' | 'account'> {
  readonly policy?: Partial<Policy>;
  readonly route?: Partial<Route>;
  readonly promise?: Partial<ProviderPromise>;
  readonly world?: WorldOptions;
}

export type SupplierWorld = ReturnType<typeof supplierWorld>;

const BASE_URL = 'http://127.0.0.1:3';
export const SUPPLIER_ACCOUNT = 'tokyo-1';
export const MONTH_MS = 30 * 86_400_000;

/** In the one spelling in which it is sent; three units of measure, and a line that costs nothing. */
export const DRAFT = {
  purchase_order: 'PO-37',
  ship_to: {
    name: 'Caf\u00e9 Ueno',
    street: '1-2 Ueno\nBlock B',
    city: 'Tokyo',
    postal_code: '110-0005',
    country: 'JP',
  },
  lines: [
    { sku: 'SENCHA', quantity: '2', unit: 'kg', unit_price: '11.00' },
    { sku: 'CUP', quantity: '3', unit: 'piece', unit_price: '4.50' },
    { sku: 'SAMPLE', quantity: '1', unit: 'piece', unit_price: '0.00' },
  ],
  currency: 'EUR',
  total: '35.50',
} as const;

/** As willing to send again as a policy can be: what holds a resend back is not the policy. */
export const EAGER: Policy = {
  ...POLICY,
  permission: { ...BY_APPROVAL, longestMs: MONTH_MS },
  resend: 'after_search',
  repeatOn: [
    ...['not_sent', 'closed_without_answer', 'timeout', 'body_cut', 'bad_answer', 'lost'],
    ...['status_200', 'status_201', 'status_409', 'status_500', 'status_503'],
  ],
  sendWithinMs: MONTH_MS,
};

/** One signature as it was given here: for which order, from when until when, by time and by POSTs that had arrived. */
interface Permit {
  readonly intentId: string;
  readonly purchaseOrder: unknown;
  readonly from: number;
  readonly until: number;
  readonly postsBefore: number;
  postsAtRevocation: number;
}

export function supplierWorld(kind: SupplierKind, options: SupplierWorldOptions = {}) {
  const made: { supplier?: ScriptedSupplier } = {};
  const w = world({
    ...options.world,
    beside: (clock) => {
      const supplier = scriptedSupplier(clock, { ...options, kind, account: SUPPLIER_ACCOUNT });
      made.supplier = supplier;
      return {
        baseUrl: BASE_URL,
        routes: [orderRoute(kind, options), orderRoute(kind, options, 'osaka-1')],
        providers: PROVIDERS.filter((each) => each.name.startsWith('supplier-')).map((each) => ({
          ...each,
          promise: { ...each.promise, ...options.promise },
        })),
        transport: supplier.transport,
        get: supplier.get,
      };
    },
  });
  const { supplier } = made;
  if (supplier === undefined) throw new Error('The world has no supplier.');
  return { w, supplier, ...desk(w), ...people(w, supplier) };
}

function orderRoute(kind: SupplierKind, { policy, route }: SupplierWorldOptions, account?: string): Route {
  return routeTo(BASE_URL, {
    name: account === undefined ? 'orders' : `orders-${account}`,
    provider: `supplier-${kind}`,
    account: account ?? SUPPLIER_ACCOUNT,
    action: 'order',
    keyField: 'purchase_order',
    policy: { ...EAGER, ...policy },
    // Nothing can be searched at the blind one, so that there is nothing to bound.
    ...(kind === 'blind' ? { applyDelayMs: null, visibilityLagMs: null } : {}),
    ...route,
  });
}

/** Callers, and the runs that a test walks by hand. */
function desk(w: World) {
  const submit = (change: Partial<Submission> = {}): Promise<Acceptance> =>
    w.submit({ route: 'orders', key: DRAFT.purchase_order, payload: DRAFT, ...change });
  return {
    submit,
    /** Submits what must be new. */
    entered: async (change: Partial<Submission> = {}): Promise<Intent> => {
      const accepted = await submit(change);
      if (accepted.kind !== 'accepted') throw new Error(`Not accepted: ${accepted.kind}`);
      return accepted.intent;
    },
    /** What a caller is shown. */
    view: async (id: string): Promise<IntentView> => {
      const conflicts = await w.ledger.countConflicts({ tenant: 'acme', intentId: id });
      return viewOf(await w.read(id), conflicts);
    },
    /** What an operator is shown. */
    item: async (id: string): Promise<QueueItem> =>
      queueItem(w.deps, await w.read(id), { frozen: false, list: 'doubtful', language: 'en' }),
    /** One pass of the sweep; the run that it started, to be walked by hand. */
    swept: async (): Promise<RunInput> => {
      await sweep(w.deps).runOnce();
      const input = w.queue.shift();
      if (input === undefined) throw new Error('The sweep started no run.');
      return input;
    },
    /** A person asks for a look, and its run is walked to its end. */
    look: async (id: string): Promise<Intent> => {
      await lookAgain(w.deps)({ tenant: 'acme', intentId: id }, 'sales');
      await w.drain();
      return w.read(id);
    },
    /** One more run of an intent, due or not. */
    runOf: async (id: string): Promise<void> => void (await w.run(runInput(await w.read(id)))),
    /** Reasons of hand-overs so far. */
    handovers: () =>
      w.logged.filter((each) => each.event === 'handed_over').map((each) => each.fields['reason']),
  };
}

/** Approvers, and the check that no POST left without them. */
function people(w: World, supplier: ScriptedSupplier) {
  const permits: Permit[] = [];
  const sign = async (intent: Intent, until = w.clock.now() + MONTH_MS, by = 'ann'): Promise<void> => {
    const { fingerprint } = await w.read(intent.id);
    const signed = await approve(w.deps)(refOf(intent), 'sales', { by, fingerprint, until });
    if (signed.kind !== 'done') throw new Error(`Not signed: ${signed.kind}`);
    const postsBefore = supplier.posts.length;
    const from = w.clock.now();
    const purchaseOrder = intent.payload['purchase_order'];
    permits.push({
      intentId: intent.id,
      purchaseOrder,
      from,
      until,
      postsBefore,
      postsAtRevocation: Infinity,
    });
  };
  return {
    sign,
    /** `deps`: past faults that the product meets. */
    takeBack: async (intent: Intent, deps: Deps = w.deps): Promise<void> => {
      const done = await revoke(deps)(refOf(intent), 'sales', 'otto');
      if (done.kind !== 'done') throw new Error(`Not revoked: ${done.kind}`);
      for (const permit of permits) {
        if (permit.intentId === intent.id) permit.postsAtRevocation = supplier.posts.length;
      }
    },
    /** POSTs that left while nobody's approval of that order was valid. The blind supplier is told no reference. */
    violations: (): number =>
      supplier.posts.filter(
        ({ at, body }, index) =>
          !permits.some(
            (permit) =>
              (body.reference === undefined
                ? body.purchase_order === permit.purchaseOrder
                : body.reference === permit.intentId) &&
              permit.from <= at &&
              at < permit.until &&
              permit.postsBefore <= index &&
              index < permit.postsAtRevocation,
          ),
      ).length,
  };
}

function refOf({ tenant, id }: Intent) {
  return { tenant, intentId: id };
}

/** The content of an order in the book, as it was asked for. */
export function contentOf(order: ReturnType<ScriptedSupplier['orders']>[number] | undefined): JsonObject {
  if (order === undefined) return {};
  const { purchase_order, ship_to, lines, currency, total } = order;
  return { purchase_order, ship_to, lines: [...lines], currency, total };
}
