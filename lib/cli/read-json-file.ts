/** Reads one JSON file or standard input, bounded, and as strictly as the service reads a request. */
import { createReadStream } from 'node:fs';
import { BadJson, parseJson, REQUEST_LIMITS } from '../platform/json.ts';

/** The longest body that the service takes, bytes; a receipt is far below it. */
export const MOST_BYTES = 65_536;

export type JsonFile =
  | { readonly kind: 'json'; readonly value: unknown }
  /** It was read and is not what it should be. */
  | { readonly kind: 'not_json'; readonly detail: string }
  /** Nothing could be read; `code` is the system's word. */
  | { readonly kind: 'unreadable'; readonly code: string };

/** @param path `-` for `stdin`. A number that JavaScript would change and a name that stands twice are refused. */
export async function readJsonFile(path: string, stdin: AsyncIterable<Uint8Array>): Promise<JsonFile> {
  try {
    const bytes = await upTo(MOST_BYTES, path === '-' ? stdin : createReadStream(path, { end: MOST_BYTES }));
    if (bytes.length > MOST_BYTES) return notJson(`The file is longer than ${MOST_BYTES} bytes.`);
    return parsed(bytes);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (typeof code !== 'string') throw error;
    return { kind: 'unreadable', code };
  }
}

/** All that `source` gives, or a little more than `most` bytes of it. */
export async function upTo(most: number, source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) break;
  }
  return Buffer.concat(chunks);
}

function parsed(bytes: Uint8Array): JsonFile {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return notJson('The file is not UTF-8.');
  }
  try {
    return { kind: 'json', value: parseJson(text, REQUEST_LIMITS) };
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    return notJson(error.message.replaceAll(/\bbody\b/g, 'file'));
  }
}

function notJson(detail: string): JsonFile {
  return { kind: 'not_json', detail };
}
