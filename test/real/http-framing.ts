/** Where an HTTP/1.1 message ends, for a proxy that passes bytes on and never changes them. */

const HEAD_END = '\r\n\r\n';

/** Bytes of the first message's head with its empty line, or null while that has not come in. */
export function headLength(bytes: Buffer): number | null {
  const end = bytes.indexOf(HEAD_END);
  return end < 0 ? null : end + HEAD_END.length;
}

/**
 * Bytes of the first message, or null while it is not complete. A message that names neither a length nor chunks
 * ends with its head; bodies that end with the connection are not known here, and a PDS sends none.
 */
export function messageLength(bytes: Buffer): number | null {
  const start = headLength(bytes);
  if (start === null) return null;
  const head = bytes.toString('latin1', 0, start);
  const chunked = /^transfer-encoding: *chunked/im.test(head);
  const named = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const end = chunked ? chunksEnd(bytes, start) : start + named;
  return end !== null && end <= bytes.length ? end : null;
}

/** `POST /xrpc/…` of a request, `HTTP/1.1 200` of an answer. */
export function firstWords(bytes: Buffer): string {
  const line = bytes.toString('latin1', 0, bytes.indexOf('\r\n'));
  return line.split(' ', 2).join(' ');
}

/** Without trailers. */
function chunksEnd(bytes: Buffer, start: number): number | null {
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error('Cannot read a chunk: its size is no number');
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
  }
}
