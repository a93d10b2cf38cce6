/** `If-Match`: a person decides about what was read, so the request must name that version. */
import type { ApiRequest } from './handler.ts';
import { ProblemError } from './problem.ts';

const ETAG = /^"([1-9]\d{0,14})"$/;

/** The version named, by its ETag. `*` names none; what is no ETag of ours equals no version. */
export function versionNamed(request: Pick<ApiRequest, 'headers'>): number {
  const header = request.headers['if-match']?.trim() ?? '';
  if (header === '' || header === '*') throw new ProblemError('if-match-missing');
  const version = ETAG.exec(header)?.[1];
  if (version === undefined) {
    throw new ProblemError('stale', { detail: 'If-Match is not the ETag of the intent. Read it again.' });
  }
  return Number(version);
}
