import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSignedWith, signedNow, TOLERANCE_MS } from '../../lib/platform/signature.ts';
import { NOW } from '../support/kit.ts';

const KEY = Buffer.from('a signing key of some length');
const SECRET = `whsec_${KEY.toString('base64')}`;
const BODY = '{"snow":"☃"}';
const seconds = (ms: number) => String(Math.floor(ms / 1000));

function headersAt(sentAt: number, change: Record<string, string> = {}) {
  const timestamp = seconds(sentAt);
  const mac = createHmac('sha256', KEY).update(`evt-1.${timestamp}.${BODY}`).digest('base64');
  return {
    'webhook-id': 'evt-1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac}`,
    ...change,
  };
}

test.each<[number, boolean, string]>([
  [NOW, true, 'it was sent now'],
  [NOW - TOLERANCE_MS, true, 'five minutes are still tolerated'],
  [NOW - TOLERANCE_MS - 1000, false, 'a recorded event must not be played again later'],
  [NOW + TOLERANCE_MS, true, 'clocks differ both ways'],
  [NOW + TOLERANCE_MS + 1000, false, 'nobody can sign in the future'],
])('sent at %d is of now: %j, because %s', (sentAt, expected) => {
  expect(signedNow(headersAt(sentAt), NOW) !== undefined).toBe(expected);
});

test.each([
  ['webhook-id', ''],
  ['webhook-id', 'two words'],
  ['webhook-id', 'x'.repeat(256)],
  ['webhook-timestamp', ''],
  ['webhook-timestamp', `${seconds(NOW)}.5`],
  ['webhook-timestamp', `${seconds(NOW)}abc`],
  ['webhook-timestamp', `-${seconds(NOW)}`],
  ['webhook-signature', ''],
])('a header %s of "%s" is refused', (name, value) => {
  expect(signedNow(headersAt(NOW, { [name]: value }), NOW)).toBeUndefined();
});

function isSigned(headers: Record<string, string>, body = BODY, secret = SECRET): boolean {
  const signed = signedNow(headers, NOW);
  if (signed === undefined) throw new Error('The headers are not of now.');
  return isSignedWith(secret, signed, body);
}

test('a signature holds whatever the machine believes the time to be', () => {
  expect(isSigned(headersAt(NOW))).toBe(true);
});

test('a body, an id, a time or a secret other than the signed one is refused', () => {
  const other = `whsec_${Buffer.from('another').toString('base64')}`;
  expect(isSigned(headersAt(NOW), `${BODY} `)).toBe(false);
  expect(isSigned(headersAt(NOW, { 'webhook-id': 'evt-2' }))).toBe(false);
  expect(isSigned(headersAt(NOW, { 'webhook-timestamp': seconds(NOW + 1000) }))).toBe(false);
  expect(isSigned(headersAt(NOW), BODY, other)).toBe(false);
});

test('one of several signatures is enough', () => {
  const { 'webhook-signature': good } = headersAt(NOW);
  expect(isSigned(headersAt(NOW, { 'webhook-signature': `v1,AAAA ${good} v1a,BBBB` }))).toBe(true);
  expect(isSigned(headersAt(NOW, { 'webhook-signature': 'v1,AAAA v1a,BBBB' }))).toBe(false);
});

test.each(['', 'whsec_', 'whsec_not base64!'])('a secret "%s" checks nothing', (secret) => {
  expect(() => isSigned(headersAt(NOW), BODY, secret)).toThrow();
});
