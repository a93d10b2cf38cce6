/** The receipt as it is given out: its members, and a digest that anybody can make again. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../functions/api-examples.ts';
import type { Intent, JsonObject } from '../../lib/domain/intent.ts';
import { receiptDigest, rfc8785 } from '../../lib/domain/receipt-digest.ts';
import { receiptDocumentOf } from '../../lib/operations/receipt-document.ts';
import { attemptOf, IN_STATE, intentOf } from '../support/kit.ts';

const CONFIRMED = IN_STATE.confirmed;
const SECRET = 'Bearer s3cret';

function confirmed(change: Partial<Intent> = {}): Intent {
  return { ...CONFIRMED, ...change };
}

/** The rule of RFC 8785 for what a receipt may hold, written anew: sorted names, and texts as JSON writes them. */
function sortedText(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${sortedText(each)}`).join(',')}}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('a receipt document', () => {
  test('has these members and no others', () => {
    expect(receiptDocumentOf(confirmed())).toEqual({
      schema: 'kakutei-receipt/v2',
      intentId: CONFIRMED.id,
      key: 'PO-37',
      route: 'warehouse',
      account: 'tokyo-1',
      environment: 'test',
      action: 'reserve',
      parent: null,
      fingerprint: CONFIRMED.fingerprint,
      payloadDigest: '00',
      externalId: 'R-1',
      url: null,
      checks: { account: true },
      readAt: '2026-11-30T09:00:00.000Z',
      promiseClass: 'keyed',
      searchedWhole: true,
      attempts: 1,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test.each(
    Object.values(IN_STATE)
      .filter((intent) => intent.receipt === null)
      .map((intent) => [intent.state, intent] as const),
  )('does not exist for an intent that is %s', (_, intent) => {
    expect(receiptDocumentOf(intent)).toBeNull();
  });

  test('holds no payload, no header and no body of the write', () => {
    const payload = { order_id: 'PO-37', sku: 'HIDDEN-SKU', quantity: 2 };
    const frozen = { ...CONFIRMED.frozen, headers: { authorization: SECRET }, body: JSON.stringify(payload) };
    const text = rfc8785({ ...receiptDocumentOf(confirmed({ payload, frozen })) });
    expect(text).toContain('PO-37');
    expect(text).not.toMatch(/HIDDEN-SKU|s3cret|authorization|\/reservations/);
  });

  test('stays as it is when the intent is written again', () => {
    const again = { version: 9, owner: { by: 'ann', at: 1 }, followUp: 'int_1', dueAt: 5, runs: 7 };
    expect(receiptDocumentOf(confirmed(again))).toEqual(receiptDocumentOf(confirmed()));
  });
});

describe('its digest', () => {
  const odd = 'Tōkyō "1"\\ \u0007 \u{1F375} é e\u0301 \r\n';
  test.each<[string, Partial<Intent>]>([
    ['of plain texts', {}],
    ['of texts that a normalisation would change', { account: odd, parent: odd }],
    ['of several attempts', { attempts: [attemptOf(1), attemptOf(2)] }],
  ])('%s is sha256 over the sorted members without it', (_, change) => {
    const { digest, ...rest } = receiptDocumentOf(confirmed(change)) ?? { digest: '' };
    expect(digest).toBe(sha256(sortedText(rest)));
    expect(rfc8785(rest as never)).toBe(sortedText(rest));
  });

  test('differs as soon as one member does', () => {
    const receipt = CONFIRMED.receipt;
    if (receipt === null) throw new Error('The confirmed intent has no receipt.');
    const changes: Partial<Intent>[] = [
      {},
      { id: `int_${'1'.repeat(40)}` },
      { key: 'PO-38' },
      { route: 'other' },
      { account: 'osaka-1' },
      { environment: 'production' },
      { action: 'cancel' },
      { parent: 'R-0' },
      { fingerprint: intentOf().fingerprint.replace('fp1', 'fp2') },
      { attempts: [] },
      { receipt: { ...receipt, payloadDigest: '01' } },
      { receipt: { ...receipt, externalId: 'R-2' } },
      { receipt: { ...receipt, url: 'https://example.org/1' } },
      { receipt: { ...receipt, checks: { account: true, sku: true } } },
      { receipt: { ...receipt, readAt: receipt.readAt + 1 } },
      { receipt: { ...receipt, promiseClass: 'blind' } },
      { receipt: { ...receipt, searchedWhole: false } },
    ];
    const digests = changes.map((change) => receiptDocumentOf(confirmed(change))?.digest);
    expect(new Set(digests).size).toBe(changes.length);
  });

  test('of the receipt that the API document shows is the one shown', () => {
    const { answer } = EXAMPLES.find((each) => each.operation === 'receipt' && each.status === 200) ?? {};
    const { digest, ...rest } = answer as Record<string, unknown>;
    expect(digest).toBe(sha256(sortedText(rest)));
    expect(digest).toBe(receiptDigest(rest as JsonObject));
  });
});
