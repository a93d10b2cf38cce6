/** The payload of a post or a reply: strict, and everything in it is sent as it stands. */
import * as z from 'zod';
import { canonicalPost, refusalOfText } from '../domain/canonical-text.ts';
import type { Json, JsonObject } from '../domain/intent.ts';
import { partsOf } from './bluesky-key.ts';
import { POST_COLLECTION } from './bluesky-promise.ts';

const MOST_GRAPHEMES = 300;
const MOST_BYTES = 3000;
const MOST_LANGUAGES = 3;
const MOST_IMAGES = 4;
const MOST_IMAGE_BYTES = 2_000_000;
const MOST_ALT = 2000;

/** Why the server would not take this text as it is; null when it would. */
function whyNot(text: string): string | null {
  const refusal = refusalOfText(text);
  if (refusal !== null) return `half a character (a lone surrogate) at position ${refusal.at}`;
  if (canonicalPost(text) === '') return 'nothing but white space';
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) return `${bytes} bytes in UTF-8, at most ${MOST_BYTES} can be posted`;
  const graphemes = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].length;
  return graphemes > MOST_GRAPHEMES
    ? `${graphemes} characters, at most ${MOST_GRAPHEMES} can be posted`
    : null;
}

const text = z
  .string()
  .max(MOST_BYTES, `at most ${MOST_BYTES} bytes in UTF-8 can be posted`)
  .superRefine((value, ctx) => {
    const message = whyNot(value);
    if (message !== null) ctx.addIssue({ code: 'custom', message, input: value });
  });

const post = z.strictObject({
  uri: z.string().refine((uri) => partsOf(uri) !== null, 'at://<DID>/app.bsky.feed.post/<key>'),
  cid: z.string().regex(/^bafyrei[a-z2-7]{52}$/, 'the cid of the record, as the server gives it'),
});

/** `parent` and `root` of a reply, as the record holds them. */
export const replyRefs = z.strictObject({ parent: post, root: post });

/** A blob that was uploaded before: its cid is the hash of its bytes, so that equal is the same image. */
const image = z.strictObject({
  cid: z.string().regex(/^bafkrei[a-z2-7]{52}$/, 'the cid that the upload was answered with'),
  mime_type: z.string().regex(/^image\/[a-z0-9.+-]{1,40}$/, 'the type that the upload was answered with'),
  size: z.number().int().min(1).max(MOST_IMAGE_BYTES),
  alt: z
    .string()
    .max(MOST_ALT)
    .refine((value) => refusalOfText(value) === null, 'half a character (a lone surrogate)'),
});

const EMBED_IMAGES = 'app.bsky.embed.images';

/** Images as a record holds them. */
export const imagesEmbed = z.strictObject({
  $type: z.literal(EMBED_IMAGES),
  images: z
    .array(
      z.strictObject({
        alt: z.string(),
        image: z.strictObject({
          $type: z.literal('blob'),
          ref: z.strictObject({ $link: z.string().max(128) }),
          mimeType: z.string().max(128),
          size: z.number(),
        }),
      }),
    )
    .max(20),
});

export const blueskyPayload = z.strictObject({
  text,
  /** The caller's: a time of ours would be another one in every request. */
  created_at: z.iso.datetime({ precision: 3, error: 'as 2026-11-30T09:00:00.000Z' }),
  langs: z
    .array(z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, 'a language tag, such as en or pt-BR'))
    .min(1)
    .max(MOST_LANGUAGES)
    .exactOptional(),
  reply: replyRefs.exactOptional(),
  images: z.array(image).min(1).max(MOST_IMAGES, `at most ${MOST_IMAGES} images`).exactOptional(),
});

/** The record that is written and must be read back: these members and no others. */
export function recordOf(payload: JsonObject): { readonly [name: string]: Json } {
  const { text: words, created_at: createdAt, langs, reply, images } = blueskyPayload.parse(payload);
  return {
    $type: POST_COLLECTION,
    text: words,
    ...(langs === undefined ? {} : { langs }),
    ...(reply === undefined ? {} : { reply }),
    ...(images === undefined ? {} : { embed: embedOf(images) }),
    createdAt,
  };
}

function embedOf(images: readonly z.output<typeof image>[]): z.output<typeof imagesEmbed> {
  return {
    $type: EMBED_IMAGES,
    images: images.map(({ cid, mime_type: mimeType, size, alt }) => ({
      alt,
      image: { $type: 'blob', ref: { $link: cid }, mimeType, size },
    })),
  };
}
