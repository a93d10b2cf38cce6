/** One call of a PDS, as plain as it is on the wire: nothing is retried and nothing is thrown for a status. */

export interface Call {
  /** For example `com.atproto.repo.createRecord`. With `input` or `bytes` it is a POST, else a GET. */
  readonly nsid: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly input?: unknown;
  readonly bytes?: { readonly type: string; readonly content: Uint8Array<ArrayBuffer> };
  readonly token?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  /** In seconds, as the header says it; null when the server names no time. */
  readonly retryAfter: string | null;
  /** Parsed JSON, or null for an empty body. */
  readonly body: unknown;
}

/** @param url of the PDS or of a proxy before it, without a trailing slash. */
export async function call(url: string, { nsid, params, input, bytes, token }: Call): Promise<Answer> {
  const query = params === undefined ? '' : `?${new URLSearchParams(params)}`;
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  const type = bytes?.type ?? (input === undefined ? undefined : 'application/json');
  if (type !== undefined) headers['content-type'] = type;
  const init = type === undefined ? {} : { method: 'POST', body: bytes?.content ?? JSON.stringify(input) };
  const response = await fetch(`${url}/xrpc/${nsid}${query}`, { ...init, headers, redirect: 'error' });
  const text = await response.text();
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    body: text === '' ? null : JSON.parse(text),
  };
}
