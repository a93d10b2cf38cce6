/** The GETs of a supplier: one record by its id, or a search by reference, page by page. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { CALLS, type Call } from './supplier-calls.ts';
import { OTHER_ACCOUNT } from './supplier-effect.ts';
import { VIEW_FAULTS, type ViewFault } from './supplier-faults.ts';
import { type House, idField, shownId } from './supplier-house.ts';
import type { SavedRecord } from './supplier-records.ts';
import { timesAndStatus } from './supplier-truth.ts';
import {
  type Answer,
  answer,
  authorised,
  failure,
  firstField,
  GARBAGE,
  invalid,
  UNAUTHORIZED,
  type Wire,
} from './wire.ts';

const CURSOR_LIFE_MS = 60_000;
const MAX_LIMIT = 50;

export function view(
  house: House,
  call: Call,
  request: IncomingMessage,
  id: string | null,
  query: URLSearchParams,
): Wire {
  const tokens = [house.readToken, house.writeToken];
  if (!authorised(request, house.readToken, tokens)) return { kind: 'answer', answer: UNAUTHORIZED };
  if (id !== null) return house.book.atomically(() => viewOne(house, call, id));
  if (house.kind === 'blind') return answer(404, { error: 'no_such_endpoint' });
  const search = readSearch(house, call, query);
  if ('status' in search) return { kind: 'answer', answer: search };
  return house.book.atomically(() => viewList(house, call, search));
}

function viewOne(house: House, call: Call, id: string): Wire {
  const record = house.book.byId(call, id);
  if (record === undefined) return NOT_FOUND;
  const faults = house.book.playViewFaults(call, record.purchaseOrder, (kind) => VIEW_FAULTS[kind].also);
  if (faults.some(({ kind }) => kind === 'gone' || kind === 'hidden_everywhere')) return NOT_FOUND;
  const { environment } = record;
  const account = faults.some(({ kind }) => kind === 'wrong_account_view') ? OTHER_ACCOUNT : record.account;
  return answer(200, { account, environment, [call]: shown(house, call, record) });
}

const NOT_FOUND = answer(404, { error: 'not_found' });

interface Search {
  readonly reference: string;
  readonly all: boolean;
  readonly limit: number;
  /** Records up to this one were on earlier pages. */
  readonly after: number;
}

const querySchema = z.strictObject({
  reference: z.string().min(1).max(128),
  status: z.literal('all').optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d?$/)
    .transform(Number)
    .pipe(z.int().max(MAX_LIMIT))
    .default(MAX_LIMIT),
  cursor: z.string().optional(),
});

function readSearch(house: House, call: Call, query: URLSearchParams): Search | Answer {
  const { success, data, error } = querySchema.safeParse(Object.fromEntries(query));
  if (!success) return invalid(firstField(error));
  const search = {
    reference: data.reference,
    all: data.status === 'all',
    limit: Math.min(data.limit, house.pageSize),
  };
  const after = data.cursor === undefined ? 0 : positionIn(data.cursor, subject(call, search));
  return after === undefined ? { status: 400, body: { error: 'bad_cursor' } } : { ...search, after };
}

function viewList(house: House, call: Call, search: Search): Wire {
  const listed = listable(house, call, search);
  const owners = [
    ...listed.map((it) => it.purchaseOrder),
    ...house.book.purchaseOrdersOf(call, search.reference),
  ];
  const faults = [...new Set(owners)].flatMap((owner) => playOn(house, call, owner, listed));
  const whole = faults.map(({ fault }) => inPlaceOfAnswer(fault)).find((wire) => wire !== undefined);
  if (whole !== undefined) return whole;
  const hidden = new Set(faults.filter(({ fault }) => HIDES.has(fault.kind)).map(({ owner }) => owner));
  const rest = listed.filter((it) => it.n > search.after && !hidden.has(it.purchaseOrder));
  const kinds = new Set(faults.map(({ fault }) => fault.kind));
  const page = rest.slice(0, kinds.has('paged') ? 1 : search.limit);
  const last = page.length < rest.length ? page.at(-1)?.n : undefined;
  const next = last === undefined ? null : cursorAt(last, subject(call, search));
  const { account, environment } = foreignPlace(house, page) ?? house;
  return answer(200, {
    account: kinds.has('wrong_account_view') ? OTHER_ACCOUNT : account,
    environment,
    reference: search.reference,
    [CALLS[call].path]: cutShort(page, next, kinds.has('partial_page')).map((it) => shown(house, call, it)),
    next: kinds.has('partial_page') ? null : next,
  });
}

/** What a search may show now: past the lag, and open unless all are asked for. Oldest first. */
function listable(house: House, call: Call, { reference, all }: Search): SavedRecord[] {
  const settledBy = Date.now() - house.visibilityLagMs;
  const open: readonly string[] = CALLS[call].open;
  return house.book
    .search(call, reference, house.kind === 'unique')
    .filter((it) => it.createdAt <= settledBy && (all || open.includes(it.status)));
}

/** A lie about records is kept until there is one to lie about, so that every hit was a lie. */
function playOn(house: House, call: Call, owner: string, listed: readonly SavedRecord[]) {
  const some = listed.some((it) => it.purchaseOrder === owner);
  return house.book
    .playViewFaults(call, owner, (kind) => some || !VIEW_FAULTS[kind].records)
    .map((fault) => ({ owner, fault }));
}

const HIDES: ReadonlySet<string> = new Set(['hidden', 'hidden_everywhere', 'gone']);

function inPlaceOfAnswer({ kind, status }: ViewFault): Wire | undefined {
  switch (kind) {
    case 'search_status':
      return failure(status ?? 503);
    case 'search_garbage':
      return answer(200, GARBAGE);
    case 'search_stall':
      return { kind: 'stall' };
    case 'search_close':
      return { kind: 'close' };
    default:
      return undefined;
  }
}

/** A page of a partial answer: the first of several, or a single one without its last record. */
function cutShort(
  page: readonly SavedRecord[],
  next: string | null,
  partial: boolean,
): readonly SavedRecord[] {
  return partial && next === null ? page.slice(0, -1) : page;
}

/** A page names one place: the first that is not ours, if a record was saved in one. */
function foreignPlace(house: House, page: readonly SavedRecord[]): SavedRecord | undefined {
  return page.find((it) => it.account !== house.account || it.environment !== house.environment);
}

function shown(house: House, call: Call, record: SavedRecord): Record<string, unknown> {
  const { purchaseOrder: purchase_order, reference, content } = record;
  const about =
    call === 'cancellation' ? { order_id: shownId(house, 'order', String(content['order_id'])) } : {};
  return {
    ...idField(house, call, record.id),
    ...(house.kind === 'blind' ? {} : { purchase_order, reference }),
    ...content,
    ...about,
    ...timesAndStatus(record),
  };
}

/** A cursor belongs to one search. */
function subject(call: Call, { reference, all }: Pick<Search, 'reference' | 'all'>): string {
  return createHash('sha256')
    .update(JSON.stringify([call, reference, all]))
    .digest('base64url')
    .slice(0, 22);
}

function cursorAt(n: number, of: string): string {
  return Buffer.from(`${of}.${n}.${Date.now() + CURSOR_LIFE_MS}`).toString('base64url');
}

/** undefined for a cursor that is unknown, of another search, or too old. */
function positionIn(cursor: string, of: string): number | undefined {
  const [about, n, until] = Buffer.from(cursor, 'base64url').toString().split('.');
  if (about !== of || n === undefined || !/^\d{1,15}$/.test(n)) return undefined;
  return Number(until) > Date.now() ? Number(n) : undefined;
}
