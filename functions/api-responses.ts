/** The answers of one operation in the API document: its own, its problems, and what the gateway says before it. */
import type { Response } from '@asteasolutions/zod-to-openapi/dist/index.mjs';
import { type Example, problemIn, shown } from './api-examples.ts';
import { ANSWER_HEADERS, type Answer, type AnswerHeader, type Operation } from './api-operation.ts';
import { PROBLEMS, type ProblemName } from './problem.ts';
import { gatewayMessage } from './problem-schemas.ts';

const BY_GATEWAY: Readonly<Record<number, string>> = {
  401: 'No valid token.',
  403: 'The token lacks the scope.',
  429: 'Too many calls; nothing was stored.',
};

/** @param guarded a token is needed. */
export function responsesOf(
  guarded: boolean,
  operation: Operation,
  examples: readonly Example[],
): Record<string, Response> {
  const responses: Record<string, Response> = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    responses[status] = answered(answer, of(examples, status));
  }
  const byStatus = Map.groupBy(operation.problems, (name) => String(PROBLEMS[name].status));
  for (const [status, names] of byStatus) {
    responses[status] = merged(responses[status], refused(names, of(examples, status)));
  }
  const gateway = guarded ? BY_GATEWAY : { 429: BY_GATEWAY[429] ?? '' };
  for (const [status, description] of Object.entries({ ...gateway, 500: 'The service failed.' })) {
    const content = { 'application/json': { schema: gatewayMessage } };
    responses[status] = merged(responses[status], { description, content });
  }
  return responses;
}

function of(examples: readonly Example[], status: string): readonly Example[] {
  return examples.filter((each) => String(each.status) === status);
}

function answered({ description, schema, headers = [] }: Answer, examples: readonly Example[]): Response {
  if (schema === undefined) return { description, ...described(headers) };
  const own = examples.filter((each) => problemIn(each) === undefined);
  const content = { 'application/json': { schema, ...shown(own, (each) => each.answer) } };
  return { description, ...described(headers), content };
}

/** `type` is narrowed to the problems that this operation can answer. */
function refused(names: readonly ProblemName[], examples: readonly Example[]): Response {
  const types = names.map((name) => `/problems/${name}`);
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { type: 'object', properties: { type: { type: 'string', enum: types } } },
    ],
  };
  const own = examples.filter((each) => problemIn(each) !== undefined);
  return {
    description: names.map((name) => `\`${name}\`: ${PROBLEMS[name].title}`).join(' '),
    ...described(names.includes('acceptance-undetermined') ? ['Retry-After'] : []),
    content: { 'application/problem+json': { schema, ...shown(own, (each) => each.answer) } },
  };
}

function described(headers: readonly AnswerHeader[]): { headers?: object } {
  if (headers.length === 0) return {};
  return { headers: Object.fromEntries(headers.map((name) => [name, ANSWER_HEADERS[name]])) };
}

function merged(before: Response | undefined, more: Response): Response {
  if (before === undefined) return more;
  return {
    description: `${before.description} ${more.description}`,
    headers: { ...before.headers, ...more.headers },
    content: { ...before.content, ...more.content },
  };
}
