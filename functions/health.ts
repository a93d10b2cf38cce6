import { api, json } from './handler.ts';
import { deps, log } from './wiring.ts';

/** Whether the ledger answers. 503 when it does not. */
export const handler = api('health', log, async () => {
  const nobody = { tenant: 'health', intentId: 'health' };
  const up = await deps()
    .ledger.read(nobody)
    .then(
      () => true,
      () => false,
    );
  return json(up ? 200 : 503, { status: up ? 'ok' : 'ledger_unavailable' });
});
