/**
 * The part of the generator that we use. Its own types add a method to every schema of zod, which no schema here
 * needs and which makes some of our types too deep for the compiler.
 */
declare module '@asteasolutions/zod-to-openapi/dist/index.mjs' {
  import type * as z from 'zod';

  type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  interface Media {
    /** A plain object is written as it is. */
    readonly schema?: z.ZodType | object;
    readonly examples?: Examples;
  }

  export interface Response {
    readonly description: string;
    readonly headers?: object;
    readonly content?: Readonly<Record<string, Media>>;
  }

  export interface Route {
    readonly method: 'get' | 'post' | 'put' | 'delete';
    readonly path: string;
    readonly operationId: string;
    readonly tags: readonly string[];
    readonly summary: string;
    readonly description: string;
    readonly security: readonly Readonly<Record<string, readonly string[]>>[];
    readonly request: {
      readonly params?: z.ZodObject;
      readonly query?: z.ZodObject;
      readonly headers?: z.ZodObject;
      readonly body?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
    };
    readonly responses: Readonly<Record<string, Response>>;
  }

  type Definition = { readonly type: 'schema'; readonly schema: z.ZodType } | { readonly type: 'route' };

  export class OpenAPIRegistry {
    get definitions(): readonly Definition[];
    registerPath(route: Route): void;
    registerComponent(type: 'securitySchemes', name: string, component: object): void;
  }

  export class OpenApiGeneratorV31 {
    constructor(definitions: readonly Definition[], options: { readonly sortComponents: 'alphabetically' });
    generateDocument(config: { readonly openapi: '3.1.0' } & Readonly<Record<string, unknown>>): {
      readonly webhooks: object;
      readonly [field: string]: unknown;
    };
  }
}
