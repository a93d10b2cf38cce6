/** The examples of the API document are what happens: a fresh local stack is walked through them, in their order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDocument, OPERATIONS } from '../../functions/api-document.ts';
import type { Service } from '../../lib/local/service.ts';
import { type Home, inBookOf, newHome } from '../support/local-service.ts';
import { contractOf } from '../support/published-contract.ts';
import { differencesOf, walker } from '../support/walk.ts';

const TEXT = JSON.stringify(apiDocument());
const contract = contractOf(TEXT);
const named = contract.walk.map((step) => ({ name: `${step.operationId} ${step.example}`, step }));

describe('the walk through a fresh stack', () => {
  let home: Home;
  let service: Service;
  let take: ReturnType<typeof walker>;

  beforeAll(async () => {
    home = newHome();
    service = await home.start();
    const { url, tokens } = service;
    const secrets = JSON.parse(readFileSync(join(home.dataDir, 'secrets.json'), 'utf8')) as Record<
      string,
      string
    >;
    const secret = secrets['supplier-webhook'] ?? '';
    take = walker({ contract, url, tokens, secret, now: () => new Date() });
  });

  afterAll(async () => {
    await home?.clear();
  });

  test('starts with the document that the stack serves', async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    expect(await response.text()).toBe(TEXT);
  });

  test('has a step for every operation', () => {
    const walked = new Set(contract.walk.map((step) => step.operationId));
    expect([...walked].sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  test.each(named)('$name is answered as it is shown', async ({ step }) => {
    const { status, answer, ...wrong } = await take(step);
    expect(status, JSON.stringify(answer)).toBe(step.status);
    expect(wrong).toEqual({ misfits: [], differences: [], unnamed: [] });
    const schema = OPERATIONS[step.operationId]?.answers[status]?.schema;
    if (schema !== undefined) expect(schema.safeParse(answer).error?.issues ?? []).toEqual([]);
  });

  test('had one effect where it says so, and none where nothing was to be sent', () => {
    expect(inBookOf(home.dataDir, 'ORD-1001')).toMatchObject({ posts: 1, ids: [expect.any(String)] });
    expect(inBookOf(home.dataDir, 'ORD-1002')).toEqual({ posts: 0, ids: [] });
  });
});

describe('the comparison', () => {
  const shown = { state: 'confirmed', at: '2026-11-30T09:00:00.000Z', items: [{ by: 'ann' }], version: 3 };

  test('lets times, ids and versions differ, and learns them', () => {
    const learnt = new Map<string, string>();
    const later = { ...shown, at: '2026-12-01T10:11:12.131Z', version: 7 };
    expect(differencesOf(shown, later, learnt)).toEqual([]);
    expect(learnt.get(shown.at)).toBe(later.at);
  });

  test.each([
    [{ ...shown, state: 'unknown' }, '/state'],
    [{ ...shown, at: null }, '/at'],
    [{ ...shown, items: [] }, '/items/0'],
    [{ ...shown, items: [{ by: 'otto' }] }, '/items/0/by'],
    [{ ...shown, tenant: 'acme' }, '/tenant'],
    [undefined, ''],
  ])('notices %j', (real, where) => {
    expect(differencesOf(shown, real, new Map())).toEqual([expect.stringMatching(`^${where}: `)]);
  });
});
