/** The payload of a post: strict, with text that the medium can keep and images that were uploaded before. */
import * as z from 'zod';
import { canonicalPost, refusalOfText } from '../domain/canonical-text.ts';

const MOST_CODE_POINTS = 2000;
const MOST_IMAGES = 4;

/** Why the medium could not show this text as it is; null when it can. */
function whyNot(text: string): string | null {
  const refusal = refusalOfText(text);
  if (refusal !== null) return `half a character (a lone surrogate) at position ${refusal.at}`;
  if (text.includes('\0')) return 'a NUL character cannot be posted';
  if (canonicalPost(text) === '') return 'nothing but white space';
  const length = [...text].length;
  return length > MOST_CODE_POINTS ? `${length} characters, at most ${MOST_CODE_POINTS} can be posted` : null;
}

const text = z
  .string()
  .max(2 * MOST_CODE_POINTS, `at most ${MOST_CODE_POINTS} characters can be posted`)
  .superRefine((value, ctx) => {
    const message = whyNot(value);
    if (message !== null) ctx.addIssue({ code: 'custom', message, input: value });
  });

const image = z.strictObject({
  media_id: z.string().regex(/^m\d{1,19}$/, 'the id that the upload was answered with'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'sha256 of the bytes uploaded, lower-case hex'),
});

export const mediumPayload = z.strictObject({
  text,
  media: z
    .array(image)
    .max(MOST_IMAGES, `at most ${MOST_IMAGES} images`)
    .refine((all) => new Set(all.map((each) => each.media_id)).size === all.length, 'an image is named twice')
    .default([]),
  visibility: z.enum(['public', 'unlisted']),
});

export type MediumPayload = z.output<typeof mediumPayload>;
