/** What callers do with their intents, and what people approve. */
import * as z from 'zod';
import { approval, intent, intentList } from './answer-schemas.ts';
import { type Answer, type AnswerHeader, type Operation, type Operations, PAGED } from './api-operation.ts';
import { manifest, receiptDocument } from './document-schemas.ts';
import { evidencePage } from './evidence-schemas.ts';
import type { ProblemName } from './problem.ts';
import { acceptBody, againBody, approveBody, correctBody } from './request-schemas.ts';

const MADE_TO_WAIT: readonly AnswerHeader[] = ['ETag', 'Content-Language', 'Preference-Applied'];
const signed: Answer = { description: 'What stands now.', schema: approval, headers: ['ETag'] };
/** The ledger was away, or others kept writing. */
const AWAY: ProblemName = 'acceptance-undetermined';

const SUBMITTED: readonly ProblemName[] = [
  ...(['invalid-request', 'key-missing', 'key-malformed', 'key-mismatch', 'key-conflict'] as const),
  ...(['too-large', 'unknown-route', 'acceptance-undetermined'] as const),
];

const submitting: Pick<Operation, 'tag' | 'headers' | 'answers'> = {
  tag: 'Intents',
  headers: ['Idempotency-Key', 'Prefer', 'Accept-Language'],
  answers: {
    200: { description: 'The same again.', schema: intent, headers: ['Location', ...MADE_TO_WAIT] },
    202: { description: 'Stored.', schema: intent, headers: ['Location', ...MADE_TO_WAIT] },
  },
};

export const INTENT_OPERATIONS: Operations = {
  accept: {
    ...submitting,
    summary: 'Submit an action',
    description:
      'Stores one action to be carried out once in effect. The same key with the same request answers the intent ' +
      'that is stored, however often it is sent; with another request it is refused and nothing is sent for it.',
    body: { schema: acceptBody, required: true },
    problems: SUBMITTED,
  },
  correct: {
    ...submitting,
    summary: 'Correct an intent',
    description:
      'As submitting, with a key of its own; it waits until the intent that it corrects has settled.',
    body: { schema: correctBody, required: true },
    problems: [...SUBMITTED, 'not-found'],
  },
  again: {
    ...submitting,
    tag: 'Approvals',
    summary: 'Order a settled effect once more',
    description: 'A new intent with the same content, under a key of the server: `<key>~2`, then `<key>~3`.',
    headers: ['Prefer', 'Accept-Language'],
    body: { schema: againBody, required: true },
    problems: [
      'invalid-request',
      'not-found',
      'not-settled',
      'too-large',
      'unknown-route',
      'key-conflict',
      AWAY,
    ],
  },
  list: {
    tag: 'Intents',
    summary: 'List intents',
    description:
      "The unit's intents of one UTC day, newest first; or, with `route` and `key`, the intent of that key, or none.",
    query: {
      day: z.iso.date().optional().meta({ description: 'UTC; today when left out.' }),
      ...PAGED,
      route: z.string().optional().meta({ description: 'Name of a route; together with `key`.' }),
      key: z.string().optional().meta({ description: 'Its Idempotency-Key; together with `route`.' }),
    },
    headers: ['Accept-Language'],
    answers: { 200: { description: 'One page.', schema: intentList, headers: ['Content-Language'] } },
    problems: ['invalid-request', AWAY],
  },
  show: {
    tag: 'Intents',
    summary: 'Read an intent',
    description: 'Its exact state, in figures and in words.',
    headers: ['Prefer', 'Accept-Language'],
    answers: { 200: { description: 'As it stands.', schema: intent, headers: MADE_TO_WAIT } },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  evidence: {
    tag: 'Intents',
    summary: 'Read the evidence',
    description: 'Attempts, searches, conflicts and what people did, as recorded.',
    query: PAGED,
    answers: { 200: { description: 'One page.', schema: evidencePage } },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  receipt: {
    tag: 'Intents',
    summary: 'Read the receipt',
    description:
      'Proof by readback of a confirmed intent, as canonical JSON (RFC 8785) with a digest of its own, to be kept and ' +
      'checked offline; not-found while there is none.',
    answers: { 200: { description: 'The receipt.', schema: receiptDocument } },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  manifest: {
    tag: 'Intents',
    summary: 'Read the manifest',
    description:
      'What was ordered, where and for when, and how it stands, in the form of publishing systems.',
    answers: { 200: { description: 'The manifest.', schema: manifest, headers: ['ETag'] } },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  withdraw: {
    tag: 'Intents',
    summary: 'Withdraw an intent',
    headers: ['Accept-Language'],
    description:
      'No further write leaves; closed at once where nothing may be outside. What is out is not called back.',
    answers: {
      200: { description: 'As it stands now.', schema: intent, headers: ['ETag', 'Content-Language'] },
    },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  approval: {
    tag: 'Approvals',
    summary: 'Read what is to be approved',
    description: 'The exact request, its fingerprint, whether a write is permitted now, and if not why.',
    answers: { 200: { description: 'What is to be approved, and what was.', schema: approval } },
    problems: ['invalid-request', 'not-found', AWAY],
  },
  approve: {
    tag: 'Approvals',
    summary: 'Sign an intent',
    description:
      'Permits this one request and all its attempts. Refused where another fingerprint stands. Where the policy ' +
      'asks for two people, the second signature completes the first.',
    body: { schema: approveBody, required: true },
    answers: { 200: signed },
    problems: ['unknown-route', 'invalid-request', 'not-approver', 'not-found', 'stale', 'too-large', AWAY],
  },
  revoke: {
    tag: 'Approvals',
    summary: 'Revoke an approval',
    description: 'No write from the next check on; what may be outside is still looked for.',
    answers: { 200: signed },
    problems: ['invalid-request', 'not-found', AWAY],
  },
};
