/** The book of a scripted medium. Time is an argument; nothing is saved before its moment. */

/** What a POST asks for. */
export interface PostBody {
  readonly account: string;
  readonly text: string;
  readonly parent: string | null;
  readonly media: readonly string[];
  readonly visibility: string;
}

export interface BookedPost {
  readonly id: string;
  authorId: string;
  text: string;
  parent: string | null;
  /** sha256, or null where the medium shows none. */
  media: readonly (string | null)[];
  links: readonly { readonly shown: string; readonly target: string }[];
  visibility: string;
  deleted: boolean;
  readonly createdAt: number;
  /** From here on the lag counts. */
  readonly savedAt: number;
  /** false for one that nobody here sent. */
  readonly sent: boolean;
}

export interface Account {
  handle: string;
  displayName: string;
}

/** What the medium makes of a text and its images. */
export interface Rewriting {
  readonly text?: (text: string) => Pick<BookedPost, 'text'> & Partial<Pick<BookedPost, 'links'>>;
  readonly images?: (hashes: readonly string[]) => readonly (string | null)[];
}

const FIRST_ID = 4_611_686_018_427_387_905n;

export function mediumBook(rewriting: Rewriting) {
  const posts: BookedPost[] = [];
  const uploads = new Map<string, string>();
  const pending: { readonly at: number; readonly body: PostBody }[] = [];

  const add = (post: Omit<BookedPost, 'id' | 'deleted'> & Partial<Pick<BookedPost, 'id'>>): BookedPost => {
    const booked = { id: String(FIRST_ID + BigInt(posts.length)), ...post, deleted: false };
    posts.push(booked);
    return booked;
  };
  const save = (body: PostBody, createdAt: number): BookedPost => {
    const { text, links = [] } = rewriting.text?.(body.text) ?? { text: body.text };
    const hashes = body.media.map((id) => uploads.get(id) ?? '');
    return add({
      ...{ authorId: body.account, text, links, parent: body.parent, visibility: body.visibility },
      ...{ createdAt, savedAt: createdAt },
      media: rewriting.images?.(hashes) ?? hashes,
      sent: true,
    });
  };

  return {
    posts,
    uploads,
    add,
    save,
    saveLater: (body: PostBody, at: number): void => void pending.push({ at, body }),
    /** Saves what is due by now, in the order of its time. */
    catchUp: (now: number): void => {
      const due = pending.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      for (const each of due) {
        pending.splice(pending.indexOf(each), 1);
        save(each.body, each.at);
      }
    },
  };
}

export type MediumBook = ReturnType<typeof mediumBook>;
