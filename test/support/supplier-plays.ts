/** What a scripted supplier may do with one POST, and how a look at it may fail; the words are its contract's. */

/** When and how often the order is saved. `later`: after `delayMs`. */
type Saves = 'now' | 'never' | 'later' | 'twice' | 'refused_later';
/** What the sender sees. `status`: one with an error word; `away`: no connection. */
type Answers =
  | 'made'
  | 'accepted'
  | 'closed'
  | 'timeout'
  | 'cut'
  | 'no_id'
  | 'blocked'
  | 'key_in_use'
  | 'status'
  | 'away';

export interface Play {
  readonly saves: Saves;
  readonly answers: Answers;
  /** What is saved differs from what was asked for. */
  readonly spoils?: 'account' | 'quantity';
  /** The error is given again for the same key. */
  readonly stored?: boolean;
}

export const SUPPLIER_PLAYS = {
  plain: { saves: 'now', answers: 'made' },
  away: { saves: 'never', answers: 'away' },
  cut_before_save: { saves: 'never', answers: 'closed' },
  cut_after_save: { saves: 'now', answers: 'closed' },
  late_save: { saves: 'later', answers: 'closed' },
  stall: { saves: 'never', answers: 'timeout' },
  stall_after_save: { saves: 'now', answers: 'timeout' },
  status_before_save: { saves: 'never', answers: 'status' },
  status_after_save: { saves: 'now', answers: 'status' },
  status_after_save_stored: { saves: 'now', answers: 'status', stored: true },
  accepted_then_created: { saves: 'later', answers: 'accepted' },
  accepted_then_rejected: { saves: 'refused_later', answers: 'accepted' },
  accepted_then_never: { saves: 'never', answers: 'accepted' },
  ok_with_error: { saves: 'never', answers: 'blocked' },
  delivered_twice: { saves: 'twice', answers: 'made' },
  delivered_twice_unanswered: { saves: 'twice', answers: 'closed' },
  cut_body_after_save: { saves: 'now', answers: 'cut' },
  no_id_after_save: { saves: 'now', answers: 'no_id' },
  wrong_account_saved: { saves: 'now', answers: 'made', spoils: 'account' },
  wrong_account_saved_unanswered: { saves: 'now', answers: 'closed', spoils: 'account' },
  altered_quantity: { saves: 'now', answers: 'made', spoils: 'quantity' },
  altered_quantity_unanswered: { saves: 'now', answers: 'closed', spoils: 'quantity' },
  key_in_use: { saves: 'never', answers: 'key_in_use' },
} as const satisfies Record<string, Play>;

export type PlayName = keyof typeof SUPPLIER_PLAYS;

export const LOOK_FAULTS = [
  /** A search shows none; a look by id shows the order. */
  'hidden',
  /** A search shows its first record only, and names no next page. */
  'partial_page',
  /** The first page is empty; it names a next one, whose cursor is refused. */
  'bad_cursor',
  /** One record a page. */
  'paged',
  'search_status',
  'search_garbage',
  'search_stall',
  'search_close',
  /** The answer names another account. */
  'wrong_account_view',
  /** Neither listed nor found by id. */
  'gone',
] as const;

export interface LookFault {
  readonly kind: (typeof LOOK_FAULTS)[number];
  /** Exclusive, ms; left out: for ever. */
  readonly until?: number;
}
