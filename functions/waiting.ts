/**
 * `Prefer: wait=N` (RFC 7240): a simple caller needs one call. The answer is held until the intent has settled or
 * the time is over; it is then the state that stands, settled or not.
 */
import type { Intent } from '../lib/domain/intent.ts';
import type { ApiAnswer, ApiRequest } from './handler.ts';
import { shownTo } from './shown.ts';
import { deps } from './wiring.ts';

/** Longer wishes are cut to this, s: the gateway gives up on a function after 30. */
export const MOST_SECONDS = 20;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;
const SETTLED: readonly Intent['state'][] = ['confirmed', 'rejected', 'closed', 'handover'];

/** Whole seconds, 0 to 20; null when nothing, or nothing that can be understood, is preferred. */
export function preferredWait(request: Pick<ApiRequest, 'headers'>): number | null {
  const wishes = (request.headers['prefer'] ?? '').split(',').map((wish) => wish.trim());
  const wait = wishes
    .map((wish) => /^wait\s*=\s*(?:"(\d{1,6})"|(\d{1,6}))(?:\s*;.*)?$/i.exec(wish))
    .find(Boolean);
  const seconds = wait?.[1] ?? wait?.[2];
  return seconds === undefined ? null : Math.min(Number(seconds), MOST_SECONDS);
}

/** The intent as it stands once it has settled or the preferred time is over. */
export async function shownInTime(
  request: ApiRequest,
  status: number,
  intent: Intent,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const wait = preferredWait(request);
  if (wait === null) return shownTo(request, status, intent, headers);
  const applied = { ...headers, 'preference-applied': `wait=${wait}` };
  return shownTo(request, status, await untilSettled(intent, wait * 1000), applied);
}

async function untilSettled(intent: Intent, waitMs: number): Promise<Intent> {
  const { clock, ledger } = deps();
  const ref = { tenant: intent.tenant, intentId: intent.id };
  const until = clock.now() + waitMs;
  let current = intent;
  for (
    let pause = FIRST_PAUSE_MS;
    !SETTLED.includes(current.state);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  ) {
    const left = until - clock.now();
    if (left <= 0) break;
    await clock.sleep(Math.min(pause, left));
    current = (await ledger.read(ref)) ?? current;
  }
  return current;
}
