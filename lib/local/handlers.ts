/** The deployed functions by name, taken from the endpoint table and the steps; the local stack has no list of its own. */
import { endpoints, functionsOfApi } from '../../functions/endpoints.ts';
import { STEPS, SWEEP } from '../platform/names.ts';

export type Handler = (event: unknown) => Promise<unknown>;

/** Every function except send, which runs in threads. */
export async function loadHandlers(): Promise<ReadonlyMap<string, Handler>> {
  const steps = Object.values(STEPS).map((step) => step.function);
  const names = new Set([...functionsOfApi(), ...steps, SWEEP.function]);
  names.delete(STEPS.Send.function);
  const asking = endpoints.filter((each) => each.asks !== undefined).map((each) => each.function);
  const loaded = await Promise.all(
    [...names].map(async (name): Promise<readonly [string, Handler]> => {
      return [name, asking.includes(name) ? onFirstCall(name) : await handlerOf(name)];
    }),
  );
  return new Map(loaded);
}

/** Who asks another function carries the client of Lambda, some sixteen megabytes that most runs never need. */
function onFirstCall(name: string): Handler {
  return async (event) => (await handlerOf(name))(event);
}

async function handlerOf(name: string): Promise<Handler> {
  return ((await import(`../../functions/${name}.ts`)) as { handler: Handler }).handler;
}
