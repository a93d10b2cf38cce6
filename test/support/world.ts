/** The whole product in memory on one fake clock: accept, the machine, the steps and the sweep. */
import type { Normalisation } from '../../lib/domain/fingerprint.ts';
import type { Intent } from '../../lib/domain/intent.ts';
import type { ProviderPromise } from '../../lib/domain/promise.ts';
import type { Route } from '../../lib/domain/route.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { memoryLedger } from '../../lib/ledger/memory-ledger.ts';
import type { Clock } from '../../lib/platform/clock.ts';
import type { LogFields } from '../../lib/platform/log.ts';
import type { Provider, ReadOnce } from '../../lib/providers/provider.ts';
import { registryOf } from '../../lib/providers/registry.ts';
import { sessionCall } from '../../lib/providers/session-call.ts';
import type { Transport } from '../../lib/providers/transport.ts';
import { warehouse } from '../../lib/providers/warehouse.ts';
import { type Acceptance, accept, type Submission } from '../../lib/workflow/accept.ts';
import type { RunInput, StartRun, Step, StepAnswer } from '../../lib/workflow/deps.ts';
import { handOver } from '../../lib/workflow/hand-over.ts';
import machine from '../../lib/workflow/machine.asl.json' with { type: 'json' };
import { search } from '../../lib/workflow/search.ts';
import { send } from '../../lib/workflow/send.ts';
import { keepSessions } from '../../lib/workflow/sessions.ts';
import { sweep } from '../../lib/workflow/sweep.ts';
import { verify } from '../../lib/workflow/verify.ts';
import { counter, fakeClock, routeTo, TIMING } from './kit.ts';
import { type PLAYS, type ScriptedWarehouse, scriptedWarehouse } from './scripted-warehouse.ts';

/** An API beside the warehouse: its routes, its adapters, and what answers below its base URL. */
export interface Beside {
  readonly baseUrl: string;
  readonly routes: readonly Route[];
  readonly providers: readonly Provider[];
  readonly transport: Transport;
  readonly get: ReadOnce;
}

export interface WorldOptions {
  readonly script?: readonly (keyof typeof PLAYS)[];
  /** Whether the warehouse makes equal keys one reservation. */
  readonly keyed?: boolean;
  readonly promise?: Partial<ProviderPromise>;
  readonly route?: Partial<Route>;
  /** Made on the world's clock. */
  readonly beside?: (clock: Clock) => Beside;
  readonly normalisation?: Normalisation;
  readonly wrapLedger?: (ledger: Ledger) => Ledger;
  readonly wrapTransport?: (transport: Transport) => Transport;
  readonly wrapStart?: (start: StartRun) => StartRun;
  /** Runs work that a fault may kill; `dead` when it did. */
  readonly live?: <T>(work: Promise<T>) => Promise<T | 'dead'>;
}

interface State {
  readonly Type: string;
  readonly Next?: string;
  readonly Default?: string;
  readonly Seconds?: number;
  readonly Choices?: readonly { readonly StringEquals: string; readonly Next: string }[];
  readonly Catch?: readonly { readonly Next: string }[];
}

const STATES = machine.States as unknown as Readonly<Record<string, State>>;
export const ORDER = 'PO-37';
/** More states than any honest run enters. */
const LONGEST_RUN = 2000;

export type World = ReturnType<typeof world>;

export function world(options: WorldOptions = {}) {
  const clock = fakeClock();
  const { keyed = true, script = [] } = options;
  const outside: ScriptedWarehouse = scriptedWarehouse({ clock, script, keyed });
  const logged: { event: string; fields: LogFields }[] = [];
  const queue: RunInput[] = [];
  const provider = { ...warehouse, promise: { ...warehouse.promise, ...options.promise } };
  const plain = memoryLedger(counter('write'));
  const live = options.live ?? (<T>(work: Promise<T>) => work);
  const start: StartRun = async (_, input) => void queue.push(input);
  const beside = options.beside?.(clock);
  const isBeside = (url: string): boolean => beside !== undefined && url.startsWith(beside.baseUrl);
  const transport: Transport = (request) =>
    isBeside(String(request.url)) && beside !== undefined
      ? beside.transport(request)
      : outside.transport(request);
  const deps = {
    ledger: options.wrapLedger?.(plain) ?? plain,
    clock,
    newId: counter('id'),
    timing: TIMING,
    routes: registryOf(
      [routeTo('http://127.0.0.1:1', options.route), ...(beside?.routes ?? [])],
      [provider, ...(beside?.providers ?? [])],
    ),
    ...(options.normalisation === undefined ? {} : { normalisation: options.normalisation }),
    log: (_: unknown, event: string, fields: LogFields = {}) => void logged.push({ event, fields }),
    transport: options.wrapTransport?.(transport) ?? transport,
    reader: ({ baseUrl }: { readonly baseUrl: string }): ReadOnce =>
      isBeside(baseUrl) && beside !== undefined ? beside.get : outside.reader(),
    secret: async () => 'secret',
    sessions: keepSessions(sessionCall, clock),
    start: options.wrapStart?.(start) ?? start,
  };
  const steps: Record<string, Step> = {
    Send: send(deps),
    Search: search(deps),
    Verify: verify(deps),
    HandOver: handOver(deps),
  };
  const entered: string[] = [];

  /** Walks the deployed machine; time passes only in its waits. */
  const run = async (input: RunInput): Promise<'succeeded' | 'failed'> => {
    let name: string = machine.StartAt;
    let answer: StepAnswer = { next: 'end' };
    for (let count = 0; count < LONGEST_RUN; count += 1) {
      entered.push(name);
      const state = STATES[name];
      if (state === undefined || state.Type === 'Succeed') return 'succeeded';
      if (state.Type === 'Fail') return 'failed';
      if (state.Type === 'Wait') {
        clock.advance(1000 * (state.Seconds ?? (answer.next === 'wait' ? answer.waitSeconds : Number.NaN)));
        name = state.Next ?? '';
      } else if (state.Type === 'Choice') {
        name = state.Choices?.find((each) => each.StringEquals === answer.next)?.Next ?? state.Default ?? '';
      } else {
        try {
          answer = (await steps[name]?.(input)) ?? answer;
          name = state.Next ?? '';
        } catch {
          name = state.Catch?.[0]?.Next ?? '';
        }
      }
    }
    throw new Error(`The run entered ${LONGEST_RUN} states.`);
  };

  const drain = async (): Promise<void> => {
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) await live(run(input));
  };

  const submit = (change: Partial<Submission> = {}): Promise<Acceptance> =>
    accept(deps)({
      tenant: 'acme',
      unit: 'sales',
      subject: 'shop',
      key: ORDER,
      route: 'warehouse',
      parent: null,
      traceIds: {},
      payload: { order_id: ORDER, sku: 'TEA-01', quantity: 2 },
      ...change,
    });

  /** Submits, and takes the run that this started out of the queue, for tests that walk it by hand. */
  const begin = async (change: Partial<Submission> = {}): Promise<{ id: string; input: RunInput }> => {
    const accepted = await submit(change);
    const input = queue.shift();
    if (accepted.kind !== 'accepted' || input === undefined) throw new Error(`Not begun: ${accepted.kind}`);
    return { id: accepted.intent.id, input };
  };

  /** Sweeps at each due time until nothing open is due before `horizonMs` from now. */
  const untilQuiet = async (id: string, horizonMs = 9 * 86_400_000, rounds = 60): Promise<Intent> => {
    const end = clock.now() + horizonMs;
    for (let round = 0; round < rounds; round += 1) {
      await drain();
      const intent = await plain.read({ tenant: 'acme', intentId: id });
      if (intent === undefined) throw new Error('There is no such intent.');
      if (intent.state === 'handover' || intent.dueAt === null || intent.dueAt > end) return intent;
      clock.advance(Math.max(0, intent.dueAt - clock.now()));
      // A pass that fails is followed by the next one.
      await live(
        sweep(deps)
          .runOnce()
          .catch(() => undefined),
      );
    }
    throw new Error(`No progress in ${rounds} rounds of the sweep: stuck.`);
  };

  /** Submits and runs until the first run ends. */
  const settle = async (change: Partial<Submission> = {}): Promise<Intent> => {
    const accepted = await submit(change);
    if (!('intent' in accepted)) throw new Error(`Not accepted: ${accepted.kind}`);
    await drain();
    return read(accepted.intent.id);
  };

  const read = async (id: string): Promise<Intent> => {
    const intent = await plain.read({ tenant: 'acme', intentId: id });
    if (intent === undefined) throw new Error('There is no such intent.');
    return intent;
  };

  return {
    clock,
    outside,
    logged,
    queue,
    deps,
    steps,
    entered,
    run,
    drain,
    submit,
    begin,
    settle,
    untilQuiet,
    read,
    ledger: plain,
  };
}
