/**
 * The interface as an OpenAPI 3.1 document. The document is the file `openapi.json` of the package, fitted to the host.
 *
 * @packageDocumentation
 */
import document from '../../openapi.json' with { type: 'json' };

import { assertMembers } from '../core/member.ts';
import { assertObject, assertText } from '../json/value.ts';

/**
 * What the library does not know about an interface.
 *
 * @public
 */
export interface OpenApiOptions {
  /** Title of the document; `Gateway administration` by default. */
  readonly title?: string;
  /** The addresses of the interface, each with an optional description; `[{ url: '/' }]` by default. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  /**
   * The ways to log in, by name: OpenAPI security schemes. A client needs one of them; none is needed if there are
   * none. Basic authentication by default.
   */
  readonly security?: Readonly<Record<string, object>>;
}

/**
 * Creates the OpenAPI 3.1 document of the interface.
 *
 * The document is plain JSON. It has each endpoint with its parameters, bodies, answers and problem codes, and
 * examples. Endpoints and search parameters that the Gateway Administration REST Interface does not describe have
 * `x-addition: true`, and each operation has the role that it needs as `x-role`.
 *
 * @param options - the title, the addresses and the ways to log in
 * @returns a new document
 * @throws TypeError for an unknown option, and for an option of a wrong type
 *
 * @example
 * ```ts
 * import { createOpenApi } from 'gateway-admin-core/openapi';
 *
 * const document = createOpenApi({ title: 'Gateway in Rack 7', servers: [{ url: 'https://gateway.test/admin' }] });
 * JSON.stringify(document).slice(0, 18); // => '{"openapi":"3.1.0"'
 * ```
 *
 * @see OpenAPI Specification 3.1.0; docs/openapi.md.
 *
 * @public
 */
export function createOpenApi(options: OpenApiOptions = {}): object {
  assertMembers(options, ['title', 'servers', 'security'], 'option of createOpenApi');
  const { info, components } = document;
  const { title = info.title, servers = document.servers, security = components.securitySchemes } = options;
  assertText(title, 'title');
  if (!Array.isArray(servers)) throw new TypeError('servers must be a list');
  assertObject(security, 'security');
  const ways = Object.keys(security).map((name) => ({ [name]: [] }));
  const fitted = structuredClone({
    ...document,
    info: { ...info, title },
    servers,
    security: ways,
    components: { ...components, securitySchemes: security },
  });
  // Only an operation that also works without a log-in has a security of its own.
  for (const item of Object.values<Readonly<Record<string, Operation>>>(fitted.paths))
    for (const operation of Object.values(item))
      if (operation.security !== undefined) operation.security = [...ways, {}];
  return fitted;
}

interface Operation {
  readonly operationId: string;
  security?: readonly object[];
}
