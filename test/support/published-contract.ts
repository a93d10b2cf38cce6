/** The published API document as a judge: whether a body or an answer is of the form that it promises. */
import * as z from 'zod';

const media = z.looseObject({
  schema: z.record(z.string(), z.unknown()),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown() })).default({}),
});
const operation = z.looseObject({
  operationId: z.string(),
  requestBody: z.looseObject({ content: z.record(z.string(), media) }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({
      headers: z.record(z.string(), z.unknown()).default({}),
      content: z.record(z.string(), media).default({}),
    }),
  ),
});
const published = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  'x-walk': z.array(
    z.strictObject({
      operationId: z.string(),
      example: z.string(),
      token: z.enum(['submitter', 'approver', 'operator', 'signature']).nullable(),
      status: z.number(),
      path: z.record(z.string(), z.string()).optional(),
      query: z.record(z.string(), z.string()).optional(),
      headers: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

export type Step = z.infer<typeof published>['x-walk'][number];
export type Media = z.infer<typeof media>;

export interface Described {
  readonly method: string;
  readonly path: string;
  /** Of the request's body; undefined where it reads none. */
  readonly body: Media | undefined;
  /** Of an answer; undefined where the document does not know the status or the media type. */
  readonly answer: (status: number, mediaType: string) => Media | undefined;
  /** Names in lower case. */
  readonly headers: (status: number) => readonly string[];
  readonly statuses: readonly number[];
}

export interface Contract {
  /** In the order of the document. */
  readonly operations: ReadonlyMap<string, Described>;
  readonly walk: readonly Step[];
  /** What does not fit, each as one line; empty when all of it does. */
  readonly misfits: (media: Media, value: unknown) => string[];
}

/** Throws where the text is no API document of ours. */
export function contractOf(text: string): Contract {
  // A schema reads its neighbours under this name.
  const document = published.parse(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
  const { schemas } = document.components;
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, each]) => [each.operationId, describedOf(path, method, each)] as const,
    ),
  );
  const compiled = new Map<Media, z.ZodType>();
  return {
    operations: new Map(all),
    walk: document['x-walk'],
    misfits: (one, value) => {
      const schema = compiled.get(one) ?? z.fromJSONSchema({ ...one.schema, $defs: schemas } as never);
      compiled.set(one, schema);
      const parsed = schema.safeParse(value);
      return parsed.success
        ? []
        : parsed.error.issues.map((issue) => `/${issue.path.join('/')}: ${issue.message}`);
    },
  };
}

function describedOf(path: string, method: string, each: z.infer<typeof operation>): Described {
  return {
    method: method.toUpperCase(),
    path,
    body: each.requestBody?.content['application/json'],
    answer: (status, mediaType) => each.responses[String(status)]?.content[mediaType],
    headers: (status) =>
      Object.keys(each.responses[String(status)]?.headers ?? {}).map((name) => name.toLowerCase()),
    statuses: Object.keys(each.responses).map(Number),
  };
}
