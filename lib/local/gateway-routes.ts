/** Finds the endpoint of a request as API Gateway does: whole segments, fixed ones before `{name}`. */
import type { Endpoint } from '../../functions/endpoints.ts';

export interface Found {
  readonly endpoint: Endpoint;
  /** `<method> <path template>` */
  readonly routeKey: string;
  /** Percent-decoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** null: no such endpoint, also for a known path with another method. `malformed`: bad percent-encoding. */
export type FindEndpoint = (method: string, path: string) => Found | 'malformed' | null;

interface Compiled {
  readonly endpoint: Endpoint;
  readonly segments: readonly string[];
}

export function compileEndpoints(endpoints: readonly Endpoint[]): FindEndpoint {
  const compiled = endpoints
    .map((endpoint) => ({ endpoint, segments: endpoint.path.split('/') }))
    .toSorted((a, b) => variables(a) - variables(b));
  return (method, path) => {
    const segments = path.split('/');
    const match = compiled.find((one) => one.endpoint.method === method && matches(one.segments, segments));
    return match === undefined ? null : foundOf(match, segments);
  };
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, i) => (nameOf(part) === null ? part === segments[i] : segments[i] !== ''))
  );
}

function foundOf(
  { endpoint, segments: template }: Compiled,
  segments: readonly string[],
): Found | 'malformed' {
  const pathParameters: Record<string, string> = {};
  try {
    for (const [i, part] of template.entries()) {
      const name = nameOf(part);
      if (name !== null) pathParameters[name] = decodeURIComponent(segments[i] ?? '');
    }
  } catch {
    return 'malformed';
  }
  return { endpoint, routeKey: `${endpoint.method} ${endpoint.path}`, pathParameters };
}

function variables(one: Compiled): number {
  return one.segments.filter((part) => nameOf(part) !== null).length;
}

function nameOf(part: string): string | null {
  return part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1) : null;
}
