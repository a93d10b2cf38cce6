/**
 * Requests and answers as the API document shows them, from `examples/api`. Put one after the other they are a walk
 * through a fresh local stack; a test takes it. What differs from run to run (times, ids, versions) stands there as it
 * once was.
 */
import approving from '../examples/api/approving.json' with { type: 'json' };
import deciding from '../examples/api/deciding.json' with { type: 'json' };
import ending from '../examples/api/ending.json' with { type: 'json' };
import queueing from '../examples/api/queueing.json' with { type: 'json' };
import reading from '../examples/api/reading.json' with { type: 'json' };
import serving from '../examples/api/serving.json' with { type: 'json' };
import signing from '../examples/api/signing.json' with { type: 'json' };
import stopping from '../examples/api/stopping.json' with { type: 'json' };
import submitting from '../examples/api/submitting.json' with { type: 'json' };
import working from '../examples/api/working.json' with { type: 'json' };
import type { ProblemName } from './problem.ts';

export interface Example {
  /** Of the endpoint table. */
  readonly operation: string;
  /** Its own among the examples of the operation, in kebab-case. */
  readonly name: string;
  readonly summary: string;
  /** Which of the tokens that the local stack prints; `signature`: none, but signed headers; null: nothing. */
  readonly token: 'submitter' | 'approver' | 'operator' | 'signature' | null;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** The problem that an example's answer names; undefined where the answer is none. */
export function problemIn({ answer }: Pick<Example, 'answer'>): ProblemName | undefined {
  const type = (answer as { type?: unknown } | null)?.type;
  const name = typeof type === 'string' ? /^\/problems\/(.+)$/.exec(type)?.[1] : undefined;
  return name as ProblemName | undefined;
}

/** The examples of a body by name, as OpenAPI wants them; nothing where there are none. */
export function shown(
  examples: readonly Example[],
  value: (example: Example) => unknown,
): { examples?: Record<string, { summary: string; value: unknown }> } {
  if (examples.length === 0) return {};
  const entries = examples.map((each) => [each.name, { summary: each.summary, value: value(each) }] as const);
  return { examples: Object.fromEntries(entries) };
}

/** In the order of the walk. */
export const EXAMPLES = [
  ...submitting,
  ...reading,
  ...approving,
  ...signing,
  ...ending,
  ...working,
  ...queueing,
  ...deciding,
  ...stopping,
  ...serving,
] as readonly Example[];
