import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createOpenApi } from 'gateway-admin-core/openapi';

import { additions, endpoints } from '../contract/endpoint.ts';
import { expectPage } from '../support/generated-page.ts';
import { openApiDocument } from './document.ts';

interface Document {
  readonly servers: unknown;
  readonly security: unknown;
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly security?: unknown;
  readonly 'x-addition'?: boolean;
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const documentOf = (options?: Parameters<typeof createOpenApi>[0]): Document =>
  createOpenApi(options) as Document;
const document = documentOf();
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

describe('the OpenAPI document', () => {
  // Promise: openapi
  it('is what the routes, the fields and a running interface give', async () => {
    // `npm run pages` writes the document.
    expectPage('openapi.json', JSON.stringify(await openApiDocument()));
  });

  it('has an operation for each endpoint under each of its paths, and marks the additions', () => {
    const expected = [...endpoints, ...additions].flatMap(({ method, path, aliases, ours = false }) =>
      [path, ...aliases].map((each) =>
        [method, each.replace(/:(\w+)/g, '{$1}'), ours || each !== path].join(' '),
      ),
    );
    const described = operations.map(({ method, path, operation }) =>
      [method, path, operation['x-addition'] ?? false].join(' '),
    );
    expect(described.toSorted()).toEqual(expected.toSorted());
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  });

  it('describes every schema and every field of the interface', () => {
    const silent = Object.entries(document.components['schemas'] ?? {}).flatMap(([name, schema]) => [
      ...(schema.description === undefined ? [name] : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([field, { description, ...more }]) =>
        description === undefined && !('$ref' in more) ? [`${name}.${field}`] : [],
      ),
    ]);
    expect(silent).toEqual([]);
  });

  it('has schemas that compile', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictRequired: false,
      validateFormats: false,
      allowUnionTypes: true,
    });
    ajv.addVocabulary(['paths', 'components', 'openapi', 'info', 'servers', 'security', 'tags']);
    ajv.addSchema(document, 'openapi');
    for (const name of Object.keys(document.components['schemas'] ?? {}))
      expect([name, typeof ajv.getSchema(`openapi#/components/schemas/${name}`)]).toEqual([name, 'function']);
  });

  it('is plain JSON, and new each time', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    Object.assign(document.info, { title: 'Changed' });
    expect(documentOf().info.title).toBe('Gateway administration');
  });

  it('has the title, the addresses and the ways to log in of the host', () => {
    const security = {
      token: { type: 'http', scheme: 'bearer' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'id' },
    };
    const servers = [{ url: 'https://gateway.test/admin', description: 'Rack 7' }];
    const own = documentOf({ title: 'Rack 7', servers, security });
    expect(own).toMatchObject({
      info: { title: 'Rack 7' },
      servers,
      components: { securitySchemes: security },
    });
    expect(own.security).toEqual([{ token: [] }, { cookie: [] }]);
    expect(own.paths['/']?.['get']?.security).toEqual([{ token: [] }, { cookie: [] }, {}]);
    expect(documentOf({ security: {} }).security).toEqual([]);
  });
});
