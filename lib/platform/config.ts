/** Configuration: the routes file and the environment, checked where they come in. The only reader of the functions' `process.env`. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Route } from '../domain/route.ts';
import { account, BadConfiguration, isLoopback, name, refuseTwice, secretRef } from './config-words.ts';
import { ENV } from './names.ts';
import { checkWebhooks, type Webhook, webhook } from './webhook-config.ts';

export { BadConfiguration } from './config-words.ts';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const span = z.number().int().nonnegative();
const ERROR_WORD = /^(not_sent|closed_without_answer|timeout|body_cut|bad_answer|lost|status_[1-5]\d\d)$/;
const SHORTEST_APPLY_DELAY_MS = 60_000;

const version = z.string().min(1).max(64);

const standing = z.strictObject({ kind: z.literal('standing'), version, until: instant });

const field = z.string().min(1).max(64);
const numberLimit = z.strictObject({ field, amount: z.number() });
const moneyLimit = z.strictObject({
  field,
  amount: z.string().regex(/^(0|[1-9]\d{0,14})(\.\d{1,4})?$/, 'a decimal amount'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'an ISO 4217 code'),
  currencyField: field,
});

const approval = z
  .strictObject({
    kind: z.literal('approval'),
    version,
    accepts: z.array(version).max(20).optional(),
    longestMs: z
      .number()
      .int()
      .min(1000)
      .max(90 * 86_400_000),
    approvers: z.array(z.string().min(1).max(255)).min(1).max(1000).nullable().default(null),
    separate: z.boolean().default(true),
    twoFrom: z.union([numberLimit, moneyLimit]).nullable().default(null),
    freshAfterAbsent: z.boolean().default(false),
  })
  // New signatures must count.
  .transform((each) => ({ ...each, accepts: [...new Set([each.version, ...(each.accepts ?? [])])] }));

const policy = z.strictObject({
  permission: z.discriminatedUnion('kind', [standing, approval]),
  attempts: z.number().int().min(1).max(20),
  requestMs: z.number().int().min(50).max(3000),
  pauseMs: span.max(3_600_000),
  resend: z.enum(['first', 'after_search']),
  repeatOn: z.array(z.string().regex(ERROR_WORD)),
  sendWithinMs: z
    .number()
    .int()
    .min(1000)
    .max(90 * 86_400_000),
  confirmWithinMs: z
    .number()
    .int()
    .min(1000)
    .max(90 * 86_400_000)
    .default(3_600_000),
  lookBeforeMs: span.max(86_400_000).default(300_000),
  lookAfterMs: span.max(86_400_000).default(1_800_000),
});

const route = z.strictObject({
  name,
  provider: name,
  account,
  environment: z.enum(['test', 'production']),
  action: name,
  keyField: z.string().min(1).max(64).nullable().default(null),
  baseUrl: z.url({ protocol: /^https?$/ }),
  writeSecretRef: secretRef.nullable().default(null),
  readSecretRef: secretRef.nullable().default(null),
  publicHosts: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}(:\d{1,5})?$/, 'a host'))
    .max(20)
    .default([]),
  policy,
  applyDelayMs: span.nullable().default(null),
  visibilityLagMs: span.nullable().default(null),
});

const tenant = z.strictObject({
  tenant: name,
  routes: z.array(route).min(1),
  webhooks: z.array(webhook).max(100).default([]),
});
const file = z.strictObject({ tenants: z.array(tenant).min(1) });

export interface Configuration {
  readonly routes: Route[];
  readonly webhooks: Webhook[];
}

/** The routes of all tenants; the rest of the file is checked too. */
export function parseRoutes(text: string): Route[] {
  return parseConfiguration(text).routes;
}

/**
 * Reads the routes and webhooks of all tenants. Refused: unknown fields, a route name used twice, a base URL that is
 * not https outside loopback, local secrets or an apply delay below 60 s there, and what `checkWebhooks` refuses.
 * What their providers have to say is asked by `registryOf`.
 */
export function parseConfiguration(text: string): Configuration {
  const parsed = file.safeParse(safely(text));
  if (!parsed.success) throw new BadConfiguration(`Cannot load routes: ${z.prettifyError(parsed.error)}`);
  const routes = parsed.data.tenants.flatMap(({ tenant, routes: own }) =>
    own.map((each) => ({ ...each, tenant })),
  );
  const webhooks = parsed.data.tenants.flatMap(({ tenant, webhooks: own }) =>
    own.map((each) => ({ ...each, tenant })),
  );
  for (const each of routes) checkRoute(each);
  refuseTwice(
    routes.map((each) => each.name),
    'route name',
  );
  checkWebhooks(webhooks, routes);
  return { routes, webhooks };
}

function checkRoute(each: Route): void {
  const url = new URL(each.baseUrl);
  const refuse = (what: string): never => {
    throw new BadConfiguration(`Cannot load route ${each.name}: ${what}.`);
  };
  if (url.username !== '' || url.search !== '' || url.hash !== '') refuse('baseUrl holds more than a place');
  if (isLoopback(url)) return;
  if (url.protocol !== 'https:') refuse('baseUrl must be https outside loopback');
  if (each.applyDelayMs !== null && each.applyDelayMs < SHORTEST_APPLY_DELAY_MS) {
    refuse('applyDelayMs below 60 s is for loopback only');
  }
  const local = [each.writeSecretRef, each.readSecretRef].some((ref) => ref?.startsWith('local:'));
  if (local) refuse('local secrets are for loopback only');
}

function safely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadConfiguration('Cannot load routes: the file is not JSON.');
  }
}

export interface Settings extends Configuration {
  readonly table: string;
  readonly machineArn: string | null;
  readonly dryRunArn: string | null;
  readonly secretsFile: string | null;
  readonly skewMs: number;
}

/** What the functions are told by their environment. Throws `BadConfiguration` on the first wrong value. */
export function loadSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const table = env[ENV.table];
  if (table === undefined || table === '')
    throw new BadConfiguration(`Cannot start: ${ENV.table} is not set.`);
  const skewMs = Number(env[ENV.skewMs] ?? '300000');
  if (!Number.isSafeInteger(skewMs) || skewMs < 0)
    throw new BadConfiguration(`Cannot start: ${ENV.skewMs} is not ms.`);
  const path = env[ENV.routes] ?? new URL('./routes.json', import.meta.url);
  return {
    table,
    machineArn: env[ENV.machineArn] ?? null,
    dryRunArn: env[ENV.dryRunArn] ?? null,
    ...parseConfiguration(readFileSync(path, 'utf8')),
    secretsFile: env[ENV.secrets] ?? null,
    skewMs,
  };
}
