import { rfc8785 } from '../lib/domain/receipt-digest.ts';
import { receiptDocumentOf } from '../lib/operations/receipt-document.ts';
import { api, json } from './handler.ts';
import { problem } from './problem.ts';
import { onlyQuery, ownIntent } from './shown.ts';
import { log } from './wiring.ts';

/** The receipt of a confirmed intent, in its canonical form; 404 while there is none. */
export const handler = api('receipt', log, async (request) => {
  onlyQuery(request, []);
  const receipt = receiptDocumentOf(await ownIntent(request));
  return receipt === null ? problem('not-found') : { ...json(200, receipt), body: rfc8785({ ...receipt }) };
});
