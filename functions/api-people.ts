/** What people look at, work on and stop; and what the service says of itself. */
import * as z from 'zod';
import { document, health, intent, routeState } from './answer-schemas.ts';
import { type Answer, type Operation, type Operations, PAGED } from './api-operation.ts';
import { agreement, decision } from './decision-body.ts';
import { dryRunAnswer } from './dry-run-schemas.ts';
import { queuePage } from './evidence-schemas.ts';
import { freezeBody, ownerBody, reconcileBody } from './request-schemas.ts';
import { body as event } from './webhook-body.ts';

const asItStands: Answer = {
  description: 'As it stands now.',
  schema: intent,
  headers: ['ETag', 'Content-Language'],
};

const ownership: Pick<Operation, 'tag' | 'headers' | 'body' | 'answers' | 'problems'> = {
  tag: 'Operations',
  headers: ['Accept-Language'],
  body: { schema: ownerBody, required: false },
  answers: { 200: asItStands },
  problems: ['invalid-request', 'not-found', 'owned', 'too-large', 'acceptance-undetermined'],
};

const stopping: Pick<Operation, 'tag' | 'body' | 'answers' | 'problems'> = {
  tag: 'Operations',
  body: { schema: freezeBody, required: true },
  answers: { 200: { description: 'What stands now.', schema: routeState } },
  problems: ['invalid-request', 'too-large', 'acceptance-undetermined'],
};
const stoppingOne = { ...stopping, problems: [...stopping.problems, 'unknown-route'] } as const;

export const PEOPLE_OPERATIONS: Operations = {
  queue: {
    tag: 'Operations',
    summary: 'Read the queue',
    description:
      '`doubtful`: unknown, handed over, or with a second effect, the longest in doubt first. `approved`: approved ' +
      'and not confirmed for longer than the route allows. A page may hold fewer items than `limit` and still have ' +
      'a cursor.',
    query: {
      list: z.enum(['doubtful', 'approved']).optional().meta({ description: '`doubtful` when left out.' }),
      ...PAGED,
    },
    headers: ['Accept-Language'],
    answers: { 200: { description: 'One page.', schema: queuePage, headers: ['Content-Language'] } },
    problems: ['invalid-request', 'acceptance-undetermined'],
  },
  own: {
    ...ownership,
    summary: 'Take an intent to work on',
    description: 'A note for people: it lets nothing through and stops nothing. Taking twice is taking once.',
  },
  disown: { ...ownership, summary: 'Give an intent back', description: 'What nobody works on stays so.' },
  decide: {
    tag: 'Operations',
    summary: 'Decide about an intent',
    description:
      'What can hide an effect needs two people: the first is answered 202 with a proposal, void by any new evidence ' +
      'and after a day; the second sends `agreesTo` with its id. Why a decision is refused stands in `reason`.',
    headers: ['If-Match', 'Accept-Language'],
    body: { schema: z.union([decision, agreement]).meta({ id: 'DecisionRequest' }), required: true },
    answers: {
      200: { ...asItStands, description: 'Carried out.' },
      202: { ...asItStands, description: 'Proposed; a second person must agree.' },
    },
    problems: [
      ...(['invalid-request', 'second-person-needed', 'not-found', 'decision-refused', 'stale'] as const),
      ...(['if-match-missing', 'too-large', 'acceptance-undetermined'] as const),
    ],
  },
  reconcile: {
    tag: 'Operations',
    summary: 'Look again now, or see what a look would find',
    headers: ['Accept-Language'],
    description:
      'Starts a look at the provider, read-only. Never a write. With `dryRun` it looks at once and answers candidates, ' +
      'checks, verdict and what would happen next; nothing is started, nothing is written, neither there nor here, ' +
      'and this look counts for nothing.',
    body: { schema: reconcileBody, required: false },
    answers: {
      200: {
        description:
          'There is nothing to look for; or, of a dry run, what was seen and what it would lead to.',
        schema: z.union([intent, dryRunAnswer]),
        headers: ['ETag', 'Content-Language'],
      },
      202: { ...asItStands, description: 'A look was started.' },
    },
    problems: ['invalid-request', 'not-found', 'too-large', 'acceptance-undetermined'],
  },
  freeze: {
    ...stoppingOne,
    summary: 'Stop the sends of a route',
    description: 'In force before the next first byte. Looking goes on.',
  },
  thaw: {
    ...stoppingOne,
    summary: 'Let the sends of a route go on',
    description: 'A route stays stopped while everything is.',
  },
  'freeze-all': {
    ...stopping,
    summary: 'Stop all sends',
    description: 'Of all tenants. In force before the next first byte. Looking goes on.',
  },
  'thaw-all': {
    ...stopping,
    summary: 'Let sends go on',
    description: 'Except those of routes that are stopped by themselves.',
  },
  'take-evidence': {
    tag: 'Service',
    summary: 'Take a signed event',
    description:
      'For providers (Standard Webhooks). An event is evidence, never a verdict: it starts a look. The signature is ' +
      'all the authentication there is.',
    headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    body: { schema: event.meta({ id: 'OutsideEvent' }), required: true },
    answers: { 204: { description: 'Stored.' } },
    problems: ['invalid-request', 'bad-signature', 'too-large', 'acceptance-undetermined'],
  },
  health: {
    tag: 'Service',
    summary: 'Whether the service works',
    description: 'Asks the ledger. Needs no token.',
    answers: {
      200: { description: 'The ledger answers.', schema: health },
      503: { description: 'The ledger does not answer.', schema: health },
    },
    problems: [],
  },
  openapi: {
    tag: 'Service',
    summary: 'Read the API document',
    description: 'This document. Needs no token.',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: document } },
    problems: [],
  },
};
