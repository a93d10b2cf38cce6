/** Where the service is and what proves who asks: from options and the shell, checked before anything is sent. */
import { createReadStream } from 'node:fs';
import { isLoopback } from '../platform/config-words.ts';
import { CALLER_ENV } from '../platform/names.ts';
import { BadUsage, quoted, type Terminal } from './command.ts';
import { upTo } from './read-json-file.ts';

/** Longer than any token that a gateway takes in a header, bytes. */
const MOST_TOKEN_BYTES = 16_384;

export interface AccessWish {
  readonly url: string | undefined;
  /** `-` for standard input. */
  readonly tokenFile: string | undefined;
}

export interface ServiceAccess {
  /** Ends in a slash. */
  readonly base: URL;
  readonly token: string;
}

/** Throws `BadUsage` where one of both is missing or is none. */
export async function accessFor({ url, tokenFile }: AccessWish, terminal: Terminal): Promise<ServiceAccess> {
  const base = baseOf(url ?? terminal.settings.url);
  const text = tokenFile === undefined ? terminal.settings.token : await read(tokenFile, terminal.stdin);
  const token = (text ?? '').trim();
  if (token === '') throw new BadUsage(`A token is missing: name a file, or set ${CALLER_ENV.token}.`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new BadUsage('The token is none: it is not one word of ASCII.');
  return { base, token };
}

function baseOf(text: string | undefined): URL {
  if (text === undefined || text === '') {
    throw new BadUsage(`The service is not named: give --url, or set ${CALLER_ENV.url}.`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}` !== '') {
    throw new BadUsage(`${quoted(text)} is no http(s) address without credentials.`);
  }
  if (url.search !== '' || url.hash !== '') throw new BadUsage(`${quoted(text)} holds more than a place.`);
  if (url.protocol === 'http:' && !isLoopback(url)) {
    throw new BadUsage(`${quoted(text)} is not https: the token would travel in the clear.`);
  }
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, '')}/`);
}

async function read(path: string, stdin: Terminal['stdin']): Promise<string> {
  try {
    const bytes = await upTo(MOST_TOKEN_BYTES, path === '-' ? stdin : createReadStream(path));
    if (bytes.length > MOST_TOKEN_BYTES) throw new BadUsage(`${quoted(path)} is too long for a token.`);
    return Buffer.from(bytes).toString('latin1');
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (error instanceof BadUsage || typeof code !== 'string') throw error;
    throw new BadUsage(`Cannot read ${quoted(path)}: ${code}.`);
  }
}
