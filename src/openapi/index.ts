/**
 * The interface as an OpenAPI 3.1 document, computed from the table of routes and the tables of fields.
 *
 * @packageDocumentation
 */
import { assertMembers } from '../core/member.ts';
import { assertObject, assertText } from '../json/value.ts';
import { contractVersion } from '../index.ts';
import { schemas } from './component.ts';
import { tagDescriptions } from './description.ts';
import { problemExamples } from './example.ts';
import { paths } from './operation.ts';
import { headers, parameters } from './parameter.ts';
import { problemResponses } from './problem-code.ts';

/**
 * What the table of routes does not know about an interface.
 *
 * @public
 */
export interface OpenApiOptions {
  /** Title of the document; `Gateway administration` by default. */
  readonly title?: string;
  /** The addresses of the interface, each with an optional description; `[{ url: '/' }]` by default. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  /**
   * The ways to log in, by name: OpenAPI security schemes. A client needs one of them; none is needed if there are none.
   * Basic authentication by default.
   */
  readonly security?: Readonly<Record<string, object>>;
}

const basic = { basic: { type: 'http', scheme: 'basic' } };

/**
 * Creates the OpenAPI 3.1 document of the interface.
 *
 * The document is plain JSON. It has each endpoint with its parameters, bodies, answers and problem codes, and examples.
 * Endpoints and search parameters that the Gateway Administration REST Interface does not describe have
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
  const { title = 'Gateway administration', servers = [{ url: '/' }], security = basic } = options;
  assertText(title, 'title');
  if (!Array.isArray(servers)) throw new TypeError('servers must be a list');
  assertObject(security, 'security');
  const names = Object.keys(security);
  return structuredClone({
    openapi: '3.1.0',
    info: {
      title,
      version: contractVersion,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers,
    security: names.map((name) => ({ [name]: [] })),
    tags: Object.entries(tagDescriptions).map(([name, text]) => ({ name, description: text })),
    paths: paths(names),
    components: {
      securitySchemes: security,
      schemas: schemas(),
      responses: problemResponses,
      parameters,
      headers,
      examples: examples(),
    },
  });
}

/** One example of each problem code. */
function examples(): object {
  const named = Object.entries(problemExamples).map(([code, value]) => [code, { value }]);
  return Object.fromEntries(named) as object;
}

const description = `Stops and starts services, closes sessions, patches settings and manages admin users of one database gateway.

- A 2xx answer to a command means that the gateway has applied the change. A 4xx answer means that nothing changed, with
  one exception: \`partly-done\` says how many parts are done. A 504 means that the outcome is not known yet.
- \`HEAD\` is served wherever \`GET\` is, and \`OPTIONS\` on every path.
- Every answer has \`Cache-Control: no-store\` and \`X-Content-Type-Options: nosniff\`.
- If the gateway allows other origins, every answer has \`Vary: Origin\`, and a page of an allowed origin gets the headers of
  CORS.
- In a path, a name has a hyphen for each white space character, and upper and lower case are the same.`;
