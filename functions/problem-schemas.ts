/** What refusals look like: our own problem details, and the gateway's word. */
import * as z from 'zod';
import { PROBLEMS } from './problem.ts';

export const gatewayMessage = z
  .strictObject({ message: z.string() })
  .meta({ id: 'GatewayMessage', description: 'What the gateway answers before any function runs.' });

const NAMES = Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[];

export const problemDetails = z
  .strictObject({
    type: z
      .enum(NAMES.map((name) => `/problems/${name}` as const))
      .meta({ description: 'Relative URI; names the problem.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().optional(),
    reason: z.string().optional().meta({ description: 'One word: why a decision was refused.' }),
    errors: z
      .array(z.strictObject({ pointer: z.string(), detail: z.string() }))
      .optional()
      .meta({ description: 'What is wrong where; JSON pointers into the body.' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });
