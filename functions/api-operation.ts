/** What the API document says of one endpoint beyond its line in the endpoint table, and the headers it may name. */
import * as z from 'zod';
import type { ProblemName } from './problem.ts';

export const TAGS = {
  Intents: 'Submitting an action, and following it.',
  Approvals: 'What people permit.',
  Operations: 'What people look at, decide and stop.',
  Service: 'The service itself.',
} as const;

export interface Answer {
  readonly description: string;
  /** Left out where the answer has no body. */
  readonly schema?: z.ZodType;
  readonly headers?: readonly AnswerHeader[];
}

export interface Operation {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly headers?: readonly RequestHeader[];
  readonly body?: { readonly schema: z.ZodType; readonly required: boolean };
  /** By status; success only. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Every problem that it can answer. */
  readonly problems: readonly ProblemName[];
}

export type Operations = Readonly<Record<string, Operation>>;

/** An instance of these is never sent: they describe. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(257)
    .meta({
      description:
        'Your own number for this one effect: 1 to 255 visible ASCII characters without comma, double quote, ' +
        'backslash, tilde and space; one pair of surrounding quotes is taken off; case matters.',
      example: 'ORD-1001',
    }),
  'webhook-id': z
    .string()
    .meta({ description: 'Id of the event; the same event is taken once.', example: 'msg_1' }),
  'webhook-timestamp': z
    .string()
    .meta({ description: 'When it was sent, s since the epoch.', example: '1790000000' }),
  'webhook-signature': z.string().meta({
    description:
      '`v1,` and the base64 of an HMAC-SHA256 over id, timestamp and body; several, with spaces between.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  }),
  'If-Match': z.string().meta({
    description: 'The ETag of the intent as it was read; another one stands: 412.',
    example: '"4"',
  }),
  Prefer: z.string().optional().meta({
    description:
      '`wait=N`: hold the answer until the intent has settled, at most N and never over 20 seconds.',
    example: 'wait=20',
  }),
  'Accept-Language': z.string().optional().meta({
    description: 'Language of `explanation`: `en` (default) or `ja`.',
    example: 'ja',
  }),
};
export type RequestHeader = keyof typeof REQUEST_HEADERS;

export const ANSWER_HEADERS = {
  ETag: { description: 'Version of the intent.', schema: { type: 'string' } },
  Location: { description: 'Where the intent is.', schema: { type: 'string' } },
  'Content-Language': {
    description: 'Language of `explanation`.',
    schema: { type: 'string', enum: ['en', 'ja'] },
  },
  'Preference-Applied': {
    description: '`wait=N`: how long the answer would have been held.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds.', schema: { type: 'string' } },
} as const;
export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Path parameters by their name in the endpoint table. */
export const PATH_PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  id: z
    .string()
    .regex(/^int_[0-9a-f]{40}$/)
    .meta({ description: 'Id of an intent of the caller’s tenant and unit; any other is 404.' }),
  endpoint: z.string().min(1).max(64).meta({ description: 'Name of a webhook of the configuration.' }),
  route: z.string().min(1).max(64).meta({ description: 'Name of a route of the caller’s tenant.' }),
};

/** `limit` and `cursor` of every list. */
export const PAGED = {
  limit: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Most items of the page; 25 when left out.' }),
  cursor: z.string().optional().meta({ description: 'From the page before; opaque.' }),
};
