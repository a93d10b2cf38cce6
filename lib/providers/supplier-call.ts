/**
 * What the three calls of the four suppliers have in common: how a write is rendered, an answer read, a record
 * matched and verified. A call says its shapes; this file makes a provider of it.
 */
import * as z from 'zod';
import { canonicalText } from '../domain/fingerprint.ts';
import type { FrozenRequest, Intent, JsonObject } from '../domain/intent.ts';
import type { Reading } from '../domain/write-result.ts';
import type { LookContext, Lookup, Place, Provider, ProviderRecord } from './provider.ts';
import { lookById, lookByReference, type Shelf } from './supplier-look.ts';
import {
  BLOCKED,
  type CallPromise,
  KEY_HEADER,
  refusalsOf,
  type SupplierKind,
  supplierPromise,
} from './supplier-promises.ts';

/** One kind of call at one kind of supplier. */
export interface SupplierCall extends CallPromise, Shelf {
  readonly supplier: SupplierKind;
  /** `supplier-keyed`, `supplier-keyed-cancellation`. */
  readonly name: string;
  /** Kind of effect: `order`, `cancellation`, `confirmation`. */
  readonly effect: string;
  readonly payload: z.ZodType<JsonObject>;
  /** Fields of the payload that its records show, by the name of the check that compares them. */
  readonly shows: Readonly<Record<string, string>>;
  /** The id in an answer that says the effect was made. */
  readonly made: z.ZodType<string>;
  /** The status of a record that has its effect. */
  readonly standing: string;
}

const accepted = z.object({ status: z.literal('accepted') });
const blocked = z.strictObject({ ok: z.literal(false), error: z.literal(BLOCKED.error) });
/** Only an invalid request names a field; anything more beside the word is another shape. */
const refusal = z.strictObject({ error: z.string(), field: z.string().optional() });

/** Our reference is taken there; by which record, a search must show. */
const exists = z.object({ error: z.literal('reference_exists') });

/** An id of the suppliers: decimal digits, as text or as a number that was kept exactly. */
export const digits = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,40}$/));

/** Our reference and the buyer's number: shown by all but the blind supplier. */
export function shownNames(supplier: SupplierKind) {
  const hidden = z
    .unknown()
    .optional()
    .transform(() => undefined);
  const name = supplier === 'blind' ? hidden : z.string();
  return { reference: name, purchase_order: name };
}

export function providerOf(call: SupplierCall): Provider {
  const { supplier, name, effect, payload } = call;
  return {
    name,
    kind: effect,
    oneAccount: 'by_environment',
    payload,
    takesParent: false,
    promise: supplierPromise(supplier, call),
    reference: referenceOf,
    write: (fields, reference, place) => render(call, fields, reference, place),
    readAnswer: (status, body) => readAnswer(call, status, body),
    ...(supplier === 'blind' ? { shownContent: (fields) => shownOf(call, fields) } : { find }),
    read,
    match: (intent, record) => matches(call, intent, record),
    verify: (intent, record) => verify(call, intent, record),
  };

  function find(look: LookContext, intent: Intent): Promise<Lookup> {
    return lookByReference(look, call, referenceOf(intent));
  }

  async function read(look: LookContext, intent: Intent, externalId: string | null): Promise<Lookup> {
    if (externalId !== null) return lookById(look, call, externalId);
    return supplier === 'blind' ? { kind: 'failed', error: 'no_external_id' } : find(look, intent);
  }
}

/** The intent's id: what a caller may choose as a key (a purchase order) may come twice with an approval of its own. */
function referenceOf({ id }: Pick<Intent, 'id'>): string {
  return id;
}

function render(
  call: SupplierCall,
  { purchase_order: purchaseOrder = null, ...fields }: JsonObject,
  reference: string,
  { account, environment }: Place,
): FrozenRequest {
  const ours = call.supplier === 'blind' ? {} : { reference };
  const key = call.supplier === 'keyed' ? { [KEY_HEADER]: reference } : {};
  return {
    method: 'POST',
    path: call.path,
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify({ account, environment, purchase_order: purchaseOrder, ...ours, ...fields }),
  };
}

function readAnswer(call: SupplierCall, status: number, body: unknown): Reading {
  if (status === 202 && accepted.safeParse(body).success) return { kind: 'acknowledged', externalId: null };
  // A keyed supplier repeats its first answer with 200.
  const made = status === 200 || status === 201 ? call.made.safeParse(body) : undefined;
  if (made?.success === true) return { kind: 'acknowledged', externalId: made.data };
  if (status === 409 && exists.safeParse(body).success) return { kind: 'exists' };
  return { kind: isRefusal(call, status, body) ? 'not_executed' : 'unrecognised' };
}

function isRefusal(call: SupplierCall, status: number, body: unknown): boolean {
  if (status === BLOCKED.status) return blocked.safeParse(body).success;
  const { data } = refusal.safeParse(body);
  if (data === undefined || (data.field !== undefined && data.error !== 'invalid_request')) return false;
  return refusalsOf(call.supplier, call).some((each) => each.status === status && each.error === data.error);
}

/** By our reference, exactly. Where none is shown: the id that was given for this intent, or equal content. */
function matches(call: SupplierCall, intent: Intent, record: ProviderRecord): boolean {
  if (record.account !== intent.account) return false;
  if (call.supplier !== 'blind') return record.reference === referenceOf(intent);
  if (record.externalId === intent.acknowledgedId) return true;
  return canonicalText(shownOf(call, intent.payload)) === canonicalText(shownOf(call, record.content));
}

function verify(call: SupplierCall, intent: Intent, record: ProviderRecord): Record<string, boolean> {
  const fields = Object.entries(call.shows).map(([check, field]) => [
    check,
    canonicalText(record.content[field] ?? null) === canonicalText(intent.payload[field] ?? null),
  ]);
  return {
    account: record.account === intent.account,
    environment: record.content['environment'] === intent.environment,
    ...(call.supplier === 'blind' ? {} : { reference: record.reference === referenceOf(intent) }),
    ...Object.fromEntries(fields),
    status: record.content['status'] === call.standing,
  };
}

function shownOf(call: SupplierCall, fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.values(call.shows).map((field) => [field, fields[field] ?? null]));
}
