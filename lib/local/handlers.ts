/** The deployed functions by name, taken from the endpoint table and the steps; the local stack has no list of its own. */
import { endpoints } from '../../functions/endpoints.ts';
import { STEPS, SWEEP } from '../platform/names.ts';

export type Handler = (event: unknown) => Promise<unknown>;

/** Every function except send, which runs in threads. */
export async function loadHandlers(): Promise<ReadonlyMap<string, Handler>> {
  const steps = Object.values(STEPS).map((step) => step.function);
  const names = new Set([...endpoints.map((endpoint) => endpoint.function), ...steps, SWEEP.function]);
  names.delete(STEPS.Send.function);
  const loaded = await Promise.all(
    [...names].map(async (name) => {
      const module = (await import(`../../functions/${name}.ts`)) as { handler: Handler };
      return [name, module.handler] as const;
    }),
  );
  return new Map(loaded);
}
