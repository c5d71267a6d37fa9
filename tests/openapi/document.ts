/**
 * The OpenAPI 3.1 document of the interface: from the table of routes, the tables of fields, the documentation comments
 * and the answers of a running interface.
 */
import { schemas } from './component.ts';
import { problemExamples, routeExamples } from './example.ts';
import { paths } from './operation.ts';
import { headers, parameters } from './parameter.ts';
import { problemResponses } from './problem-code.ts';
import { tagDescriptions } from './description.ts';

/** Creates the document that the package has. */
export async function openApiDocument(): Promise<object> {
  const ways = [{ basic: [] }];
  const problems = Object.entries(await problemExamples());
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gateway administration',
      // That of the Gateway Administration REST Interface, not of the package.
      version: '1.0',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: ways,
    tags: Object.entries(tagDescriptions()).map(([name, text]) => ({ name, description: text })),
    paths: paths(ways, await routeExamples()),
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      schemas: schemas(),
      responses: problemResponses,
      parameters,
      headers,
      examples: Object.fromEntries(problems.map(([code, value]) => [code, { value }])) as object,
    },
  };
}

const description = `Creates, deletes, stops and starts services, adds and removes servers, closes sessions, patches settings and manages
admin users of one database gateway.

- A 2xx answer to a command means that the gateway has applied the change. A 4xx answer means that nothing changed, with
  one exception: \`partly-done\` says how many parts are done. A 504 means that the outcome is not known yet.
- \`HEAD\` is served wherever \`GET\` is, and \`OPTIONS\` on every path.
- Every answer has \`Cache-Control: no-store\` and \`X-Content-Type-Options: nosniff\`.
- If the gateway allows other origins, every answer has \`Vary: Origin\`, and a page of an allowed origin gets the headers of
  CORS.
- In a path, a name has a hyphen for each white space character, and upper and lower case are the same.`;
