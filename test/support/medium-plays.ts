/** What a scripted medium may do with one POST, and how a look at it may fail; the words are its contract's. */

export interface Play {
  /** `later`: after `delayMs`. */
  readonly saves: 'now' | 'never' | 'later' | 'twice';
  readonly answers:
    | 'made'
    | 'closed'
    | 'timeout'
    | 'cut'
    | 'no_id'
    | 'blocked'
    | 'status'
    | 'too_many'
    | 'away'
    | 'refused';
  /** What is saved differs from what was asked for. */
  readonly spoils?: 'author' | 'parent' | 'draft' | 'image';
}

export const MEDIUM_PLAYS = {
  plain: { saves: 'now', answers: 'made' },
  away: { saves: 'never', answers: 'away' },
  refused: { saves: 'never', answers: 'refused' },
  cut_before_save: { saves: 'never', answers: 'closed' },
  cut_after_save: { saves: 'now', answers: 'closed' },
  late_save: { saves: 'later', answers: 'closed' },
  stall: { saves: 'never', answers: 'timeout' },
  stall_after_save: { saves: 'now', answers: 'timeout' },
  status_before_save: { saves: 'never', answers: 'status' },
  status_after_save: { saves: 'now', answers: 'status' },
  too_many_after_save: { saves: 'now', answers: 'too_many' },
  ok_with_error: { saves: 'never', answers: 'blocked' },
  delivered_twice: { saves: 'twice', answers: 'made' },
  delivered_twice_unanswered: { saves: 'twice', answers: 'closed' },
  cut_body_after_save: { saves: 'now', answers: 'cut' },
  no_id_after_save: { saves: 'now', answers: 'no_id' },
  wrong_author_saved: { saves: 'now', answers: 'made', spoils: 'author' },
  wrong_author_saved_unanswered: { saves: 'now', answers: 'closed', spoils: 'author' },
  wrong_parent_saved: { saves: 'now', answers: 'made', spoils: 'parent' },
  wrong_parent_saved_unanswered: { saves: 'now', answers: 'closed', spoils: 'parent' },
  draft_saved: { saves: 'now', answers: 'made', spoils: 'draft' },
  draft_saved_unanswered: { saves: 'now', answers: 'closed', spoils: 'draft' },
  image_missing: { saves: 'now', answers: 'made', spoils: 'image' },
  image_missing_unanswered: { saves: 'now', answers: 'closed', spoils: 'image' },
} as const satisfies Record<string, Play>;

export type MediumPlay = keyof typeof MEDIUM_PLAYS;

export const MEDIUM_FAULTS = [
  /** The list leaves every post out. */
  'hidden',
  /** The first page is said to be the last. */
  'partial_page',
  /** The second page's cursor is refused. */
  'bad_cursor',
  /** Every page begins with the last post of the one before. */
  'overlapping',
  /** No page is the last one. */
  'endless',
  /** A page holds one post more than was asked for. */
  'long_page',
  'list_status',
  'list_unauthorised',
  'list_forbidden',
  'list_not_found',
  'list_too_many',
  'list_broken',
  'list_garbage',
  'list_null',
  'list_without_posts',
  'list_stall',
  /** An empty list that names another account. */
  'list_of_another',
  /** An empty list that names no account, as a token without the right to look may see it. */
  'list_of_nobody',
  'account_status',
  /** The token sees another account. */
  'account_of_another',
  'one_status',
  'one_missing',
  /** By its id it is said to be deleted, which the list does not say. */
  'one_deleted',
  'page_404',
  'page_status',
  'page_wrong_author',
  'page_wrong_text',
  'page_without_data',
  'page_redirect',
] as const;

export type MediumFault = (typeof MEDIUM_FAULTS)[number];
