/** The manifest of an intent over the API: what was ordered, in every state; and the receipt in its canonical form. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadDigest } from '../../lib/domain/fingerprint.ts';
import { type Intent, STATES } from '../../lib/domain/intent.ts';
import { manifestOf } from '../../lib/operations/manifest.ts';
import { type ApiRig, startApiRig } from '../support/api-rig.ts';
import { IN_STATE } from '../support/kit.ts';
import { BASE } from './refused-requests.ts';

let rig: ApiRig;
let count = 0;

beforeAll(async () => {
  rig = await startApiRig();
});

afterAll(async () => {
  await rig?.stop();
});

async function submitted(more: object = {}): Promise<string> {
  count += 1;
  const body = JSON.stringify({ ...BASE, route: 'free', ...more });
  const answer = await rig.call('accept', { headers: { 'idempotency-key': `manifest-${count}` }, body });
  expect(answer.status).toBe(202);
  return String(answer.json['id']);
}

async function moved(intentId: string, change: Partial<Intent>): Promise<void> {
  const ledger = await rig.ledger();
  const stored = await ledger.read({ tenant: 'acme', intentId });
  if (stored === undefined) throw new Error(`Intent ${intentId} is not stored.`);
  const saved = await ledger.save(stored, { ...stored, ...change }, { kind: 'unchanged' });
  expect(saved.kind).toBe('saved');
}

test('it says what was ordered, where and for when, and has the ETag of the intent', async () => {
  const id = await submitted({ plannedAt: '2099-01-01T09:00:00+09:00' });
  const { status, headers, json } = await rig.call('manifest', { id });
  expect({ status, headers, json }).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', etag: '"1"' },
    json: {
      schema: 'publish-intent/v1',
      intent_id: id,
      route: 'free',
      account: 'tokyo-1',
      payload_sha256: payloadDigest(BASE.payload),
      planned_time: '2099-01-01T00:00:00.000Z',
      parent_external_id: null,
      status: 'ready',
    },
  });
  await moved(id, { state: 'unknown' });
  expect(await rig.call('manifest', { id })).toMatchObject({
    headers: { etag: '"2"' },
    json: { ...json, status: 'unknown' },
  });
});

test('without a planned time it is planned for when it was accepted', async () => {
  const id = await submitted();
  const intent = await (await rig.ledger()).read({ tenant: 'acme', intentId: id });
  const { json } = await rig.call('manifest', { id });
  expect(Date.parse(String(json['planned_time']))).toBe(intent?.createdAt);
});

test('it holds no payload', async () => {
  const { text } = await rig.call('manifest', { id: await submitted() });
  expect(JSON.stringify(BASE.payload)).toContain('TEA-01');
  expect(text).not.toContain('TEA-01');
});

test.each(STATES)('an intent that is %s has one, with that very word', (state) => {
  expect(manifestOf(IN_STATE[state])).toMatchObject({ status: state });
});

test('a reply names its parent, and an unverified id is never shown', () => {
  const reply = manifestOf({ ...IN_STATE.acknowledged, parent: 'post-1', acknowledgedId: 'R-seen' });
  expect(reply.parent_external_id).toBe('post-1');
  expect(JSON.stringify(reply)).not.toContain('R-seen');
});

test('the receipt comes as the very bytes that its digest is made from, with the digest added', async () => {
  const id = await submitted();
  const { receipt, attempts, externalId } = IN_STATE.confirmed;
  await moved(id, { state: 'confirmed', dueAt: null, receipt, attempts, externalId });
  const { text } = await rig.call('receipt', { id });
  const [, digest = ''] = /,"digest":"([0-9a-f]{64})"/.exec(text) ?? [];
  const rest = text.replace(`,"digest":"${digest}"`, '');
  expect(createHash('sha256').update(rest).digest('hex')).toBe(digest);
  expect((await rig.call('receipt', { id })).text).toBe(text);
});
