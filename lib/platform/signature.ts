/** Signed events, by the Standard Webhooks scheme: who holds a live secret said exactly this, and said it now. */
import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** How far the sender's time may be off ours, either way, ms. */
export const TOLERANCE_MS = 300_000;

export interface Signed {
  readonly id: string;
  readonly sentAt: number;
  /** Space-separated, each `<version>,<base64>`. */
  readonly signatures: string;
}

const ID = /^[!-~]{1,255}$/;
/** Seconds since the epoch. */
const TIMESTAMP = /^\d{1,11}$/;

/** The three headers, names in lower case; undefined when one is missing, is not of its form, or its time is not now. */
export function signedNow(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): Signed | undefined {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const signatures = headers['webhook-signature'] ?? '';
  if (!ID.test(id) || !TIMESTAMP.test(timestamp) || signatures === '') return undefined;
  const sentAt = Number(timestamp) * 1000;
  return Math.abs(now - sentAt) > TOLERANCE_MS ? undefined : { id, sentAt, signatures };
}

/**
 * Whether one of the signatures is made with this secret (`whsec_<base64>`). Throws for a secret that is none.
 * The library would also compare the time, but with the machine's clock; that is `signedNow`'s part.
 */
export function isSignedWith(secret: string, { id, sentAt, signatures }: Signed, body: string): boolean {
  const expected = Buffer.from(new Webhook(secret).sign(id, new Date(sentAt), body));
  return signatures.split(' ').some((each) => {
    const given = Buffer.from(each);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
