/** The images in a medium's book, and how large one is, by its own bytes. */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';

export type ImageType = 'image/png' | 'image/jpeg';

export interface NewImage {
  readonly contentType: ImageType;
  readonly alt: string | null;
  readonly body: Buffer;
  readonly width: number;
  readonly height: number;
  readonly at: number;
}

export interface UploadedImage {
  readonly media_id: string;
  /** Hex, of the bytes as they were received. */
  readonly sha256: string;
  readonly reencodedSha256: string;
  readonly width: number;
  readonly height: number;
}

const rowSchema = z
  .object({
    media_id: z.string(),
    sha256: z.string(),
    reencoded_sha256: z.string(),
    width: z.number(),
    height: z.number(),
  })
  .transform(
    ({ reencoded_sha256, ...rest }): UploadedImage => ({
      ...rest,
      reencodedSha256: reencoded_sha256,
    }),
  );

export function media(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO media (content_type, alt, bytes, sha256, reencoded_sha256, width, height, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const byId = db.prepare('SELECT * FROM media WHERE media_id = ?');
  const use = db.prepare('UPDATE media SET used = 1 WHERE media_id = ?');
  const drop = db.prepare('DELETE FROM media WHERE used = 0 AND at <= ?');
  return {
    saveImage: ({ contentType, alt, body, width, height, at }: NewImage): UploadedImage => {
      const hashes = [sha256(body), sha256(Buffer.concat([body, Buffer.of(0)]))];
      return rowSchema.parse(insert.get(contentType, alt, body.length, ...hashes, width, height, at));
    },
    imageById: (id: string) => rowSchema.optional().parse(byId.get(id)),
    /** It is part of a post from now on, or was. */
    useImage: (id: string): void => {
      use.run(id);
    },
    /** Those that were never part of a post. */
    dropUnusedImages: (uploadedUntil: number): void => {
      drop.run(uploadedUntil);
    },
  };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** undefined for bytes that do not begin like an image of that type, or name no size. */
export function sizeOf(type: ImageType, bytes: Buffer): Size | undefined {
  const size = type === 'image/png' ? pngSize(bytes) : jpegSize(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

const PNG_START = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR', 'latin1');

function pngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || !bytes.subarray(0, 16).equals(PNG_START)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Walks the segments to the start of the frame. */
function jpegSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Not those between, which define tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
