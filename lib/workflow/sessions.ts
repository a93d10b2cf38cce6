/**
 * Sessions before the claim. A provider that wants one is asked while nothing is in doubt; what it gives is kept in
 * memory only, by route and secret, and goes into no record, log or evidence. Failures are kept too, so that many
 * intents do not ask for what one was just refused.
 */
import { sha256 } from '../domain/fingerprint.ts';
import type { Intent } from '../domain/intent.ts';
import type { Clock } from '../platform/clock.ts';
import type { Opening } from '../providers/provider.ts';
import type { Way } from '../providers/registry.ts';
import type { SessionCall } from '../providers/session-call.ts';
import { evidenceId, type SendDeps, type StepAnswer } from './deps.ts';

type Headers = Readonly<Record<string, string>>;

export interface SessionKeeper {
  /** A session for a write of this route; `limitMs` bounds the one call. Never throws. */
  readonly open: (way: Way, secret: string, limitMs: number) => Promise<Opening>;
  /** Gives up the session of these headers, if it is still the one that is kept for the route. */
  readonly drop: (way: Way, headers: Headers) => void;
}

interface Kept {
  readonly secret: string;
  readonly openedAt: number;
  opening: Promise<Opening>;
  /** Of the session that it opened; null while there is none. */
  headers: Headers | null;
  /** For ever while it is being opened, so that whoever comes meanwhile shares it. */
  until: number;
}

const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 3_600_000;
/**
 * From one opening to the next, where the token was refused in between: a server that takes none of its own tokens would
 * else use up the 300 sessions of a day.
 */
const BETWEEN_MS = 300_000;

export function keepSessions(call: SessionCall, clock: Clock): SessionKeeper {
  const kept = new Map<string, Kept>();
  return {
    open: async (way, secret, limitMs) => {
      const [name, digest] = [nameOf(way), sha256(secret)];
      const known = kept.get(name);
      if (known?.secret === digest && clock.now() < known.until) return known.opening;
      const opening = ask(call, clock, way, secret, limitMs);
      const mine = newlyKept(digest, opening, clock.now());
      kept.set(name, mine);
      const opened = await opening;
      mine.headers = opened.kind === 'open' ? opened.headers : null;
      mine.until = endOf(opened, clock.now());
      return opened;
    },
    drop: (way, headers) => {
      const known = kept.get(nameOf(way));
      // Of an earlier one: it was answered late, and another session was opened meanwhile.
      if (known === undefined || known.headers !== headers) return;
      known.until = known.openedAt + BETWEEN_MS;
      known.headers = null;
      known.opening = Promise.resolve(OVER_EARLY);
    },
  };
}

const OVER_EARLY: Opening = { kind: 'failed', error: 'session_over_early', retryAfterMs: BETWEEN_MS };

function newlyKept(secret: string, opening: Promise<Opening>, openedAt: number): Kept {
  return { secret, openedAt, opening, headers: null, until: Number.POSITIVE_INFINITY };
}

function nameOf({ route }: Way): string {
  return JSON.stringify([route.tenant, route.name]);
}

async function ask(
  call: SessionCall,
  clock: Clock,
  { route, provider }: Way,
  secret: string,
  timeoutMs: number,
): Promise<Opening> {
  const { baseUrl, account, environment } = route;
  const place = { account, environment, ask: call({ baseUrl, timeoutMs }), now: clock.now() };
  const none: Opening = { kind: 'failed', error: 'session_adapter_failed', retryAfterMs: LONGEST_PAUSE_MS };
  try {
    return (await provider.session?.open(secret, place)) ?? none;
  } catch {
    return none;
  }
}

function endOf(opening: Opening, now: number): number {
  if (opening.kind === 'open') return opening.until;
  return now + Math.min(Math.max(opening.retryAfterMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** Of the one call; a sender with little time left takes less. */
const SESSION_MS = 3000;
const SHORTEST_CALL_MS = 250;

/** Headers for the writes of this run, null where the provider wants no session, or one word why there are none. */
export type Credentials =
  | { readonly kind: 'ready'; readonly headers: Headers | null }
  | { readonly kind: 'missing'; readonly error: string };

/** `spareMs`: what the run has left over its write. */
export async function credentialsFor(deps: SendDeps, way: Way, spareMs: number): Promise<Credentials> {
  const { writeSecretRef } = way.route;
  if (way.provider.session === undefined || writeSecretRef === null) return { kind: 'ready', headers: null };
  const secret = await deps.secret(writeSecretRef).catch(() => undefined);
  if (secret === undefined) return { kind: 'missing', error: 'session_secret_unreadable' };
  const limitMs = Math.max(Math.min(spareMs, SESSION_MS), SHORTEST_CALL_MS);
  const opening = await deps.sessions.open(way, secret, limitMs);
  if (opening.kind === 'failed') return { kind: 'missing', error: opening.error };
  return { kind: 'ready', headers: opening.headers };
}

/** Nothing was claimed and nothing moved: the sweep comes back, later each time, and after its bound people are told. */
export async function withoutSession(deps: SendDeps, intent: Intent, error: string): Promise<StepAnswer> {
  const at = deps.clock.now();
  const code = error.slice(0, 64);
  deps.log('warn', 'session_not_open', { intentId: intent.id, route: intent.route, code });
  await deps.ledger.addEvidence(
    { tenant: intent.tenant, intentId: intent.id },
    { kind: 'session', id: evidenceId(deps, at), at, facts: { said: 'failed', reason: code } },
  );
  return { next: 'end' };
}
