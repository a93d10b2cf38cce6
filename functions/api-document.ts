/**
 * The API document (OpenAPI 3.1): the endpoint table, the schemas that the functions themselves refuse by, those of
 * their answers, and the examples. Whoever adds an endpoint describes it, or there is no document.
 */
import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type Route,
} from '@asteasolutions/zod-to-openapi/dist/index.mjs';
import * as z from 'zod';
import { EXAMPLES, type Example, shown } from './api-examples.ts';
import { INTENT_OPERATIONS } from './api-intents.ts';
import { type Operation, type Operations, PATH_PARAMETERS, REQUEST_HEADERS, TAGS } from './api-operation.ts';
import { PEOPLE_OPERATIONS } from './api-people.ts';
import { responsesOf } from './api-responses.ts';
import { type Endpoint, endpoints } from './endpoints.ts';
import { problemDetails } from './problem-schemas.ts';

export const OPERATIONS: Operations = { ...INTENT_OPERATIONS, ...PEOPLE_OPERATIONS };

/** The same object for the same code. Throws where an endpoint is not described. */
export function apiDocument() {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'token', TOKEN);
  for (const endpoint of endpoints) registry.registerPath(routeOf(endpoint));
  const all = [{ type: 'schema', schema: problemDetails } as const, ...registry.definitions];
  const generator = new OpenApiGeneratorV31(all, { sortComponents: 'alphabetically' });
  const { webhooks: _none, ...document } = generator.generateDocument({
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/', description: 'Where this document was read.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    'x-walk': EXAMPLES.map(stepOf),
  });
  return document;
}

const INFO = {
  title: 'Kakutei',
  version: '0.1.0',
  summary: 'Carries an approved business action to an external API once in effect.',
  description:
    'JSON in and out; errors of its own are problem details. Everything is of the tenant and unit that the token ' +
    'names. `x-walk` puts the examples into an order in which a fresh local stack answers them.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const TOKEN = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'Claims `sub`, `tenant`, `unit`, `kind` (`person`, `service` or `agent`) and `scope`: words separated by spaces ' +
    'of `submit`, `read`, `approve`, `operate`, `admin`. Each operation names the one it needs. An agent never ' +
    'holds `approve`, `operate` or `admin`.',
} as const;

function routeOf(endpoint: Endpoint): Route {
  const operation = OPERATIONS[endpoint.function];
  if (operation === undefined) {
    throw new RangeError(
      `Cannot describe ${endpoint.method} ${endpoint.path}: "${endpoint.function}" is not told.`,
    );
  }
  const examples = EXAMPLES.filter((each) => each.operation === endpoint.function);
  return {
    operationId: endpoint.function,
    method: endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>,
    path: endpoint.path,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, ...rightsOf(endpoint)].join('\n\n'),
    security: endpoint.scope === null ? [] : [{ token: [endpoint.scope] }],
    request: requestOf(endpoint, operation, examples),
    responses: responsesOf(endpoint.scope !== null, operation, examples),
  };
}

function rightsOf({ scope, personOnly }: Endpoint): string[] {
  return scope === null ? [] : [`Scope: \`${scope}\`.${personOnly === true ? ' Only for a person.' : ''}`];
}

function requestOf({ path }: Endpoint, operation: Operation, examples: readonly Example[]) {
  const { body, headers = [], query } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const bodies = examples.filter((each) => each.body !== undefined);
  return {
    ...(names.length > 0 && { params: z.object(pick(PATH_PARAMETERS, names)) }),
    ...(query !== undefined && { query: z.object(query) }),
    ...(headers.length > 0 && { headers: z.object(pick(REQUEST_HEADERS, headers)) }),
    ...(body !== undefined && {
      body: {
        required: body.required,
        content: {
          'application/json': { schema: body.schema, ...shown(bodies, (each) => each.body) },
        },
      },
    }),
  };
}

/** Everything of the request that the examples of its operation do not hold. */
function stepOf({ operation, name, token, status, path, query, headers }: Example) {
  return { operationId: operation, example: name, token, status, path, query, headers };
}

function pick<T>(from: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  const entries = names.map((name) => {
    const found = from[name];
    if (found === undefined) throw new RangeError(`Cannot describe the parameter "${name}": it is not told.`);
    return [name, found] as const;
  });
  return Object.fromEntries(entries);
}
