/**
 * The schemas of the OpenAPI document of the program: which types a value can have, and what fields mean.
 */
import type { EndpointId } from '../client/index.ts';
import type { Json } from '../json/index.ts';

/** The part of a JSON Schema that the program reads. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: Json;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly writeOnly?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operating {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operating>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The schemas of what an endpoint answers, or of its body: without references and alternatives. */
export interface Schemas {
  of(id: EndpointId, part: 'answer' | 'body'): readonly Schema[];
  /** The schemas of a member of a value, or of an element. */
  inside(schemas: readonly Schema[], token: string): readonly Schema[];
}

/** Loads the schemas. The document is large: only a command that needs it loads it. */
export async function loadSchemas(): Promise<Schemas> {
  const { createOpenApi } = await import('../openapi/index.ts');
  const { paths, components } = createOpenApi() as OpenApi;
  const endpoints = Object.values(paths).flatMap((methods) => Object.values(methods));
  const alternatives = (schemas: readonly Schema[]): readonly Schema[] =>
    schemas.flatMap(({ $ref, anyOf, ...schema }) => {
      const inner = $ref === undefined ? anyOf : [components.schemas[$ref.replace(/^.*\//, '')] ?? {}];
      return inner === undefined ? [schema] : alternatives(inner);
    });
  return {
    of(id, part) {
      const endpoint = endpoints.find(({ operationId }) => operationId === id);
      const body = part === 'body' ? endpoint?.requestBody : endpoint?.responses['200'];
      return alternatives(Object.values(body?.content ?? {}).map(({ schema }) => schema));
    },
    inside: (schemas, token) => alternatives(schemas.flatMap((schema) => memberOf(schema, token))),
  };
}

function memberOf(
  { properties = {}, additionalProperties, items }: Schema,
  token: string,
): readonly Schema[] {
  const member = Object.hasOwn(properties, token) ? properties[token] : (additionalProperties ?? items);
  return typeof member === 'object' ? [member] : [];
}
