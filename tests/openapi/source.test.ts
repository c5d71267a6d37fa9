import { describe, it } from '@jest/globals';

import { expectPage } from '../support/generated-page.ts';
import { componentDescriptions, tagDescriptions } from './description.ts';
import { problemExamples, routeExamples } from './example.ts';

const constant = (comment: string, name: string, type: string, value: object): string =>
  `/** ${comment} @internal */\nexport const ${name}: ${type} = ${JSON.stringify(value)};\n`;

const written = 'Written by `npm run pages`.';

// `npm run pages` writes these sources.
describe('the sources of the OpenAPI document', () => {
  it('describe fields as the documentation comments of the interfaces do', () => {
    expectPage(
      'src/openapi/description.ts',
      [
        `/**\n * Descriptions: what the documentation comments of the sources say. ${written}\n */\n`,
        constant(
          'The descriptions of a component by the path to a field; `*` is each item of a list or map.',
          'descriptions',
          'Readonly<Record<string, Readonly<Record<string, string>>>>',
          componentDescriptions(),
        ),
        constant(
          'The description of each tag.',
          'tagDescriptions',
          'Readonly<Record<string, string>>',
          tagDescriptions(),
        ),
      ].join('\n'),
    );
  });

  it('have the answers of a running interface as examples', async () => {
    expectPage(
      'src/openapi/example.ts',
      [
        `/**\n * Examples: what a running interface answers. ${written}\n */\nimport type { Json } from '../index.ts';\n`,
        `/** The examples of one route: the body, the answer, and the plan of a dry run. */\ninterface RouteExample {\n  readonly request?: Json;\n  readonly answer?: Json;\n  readonly plan?: Json;\n}\n`,
        constant(
          'The examples of each route by its id.',
          'routeExamples',
          'Readonly<Record<string, RouteExample>>',
          await routeExamples(),
        ),
        constant(
          'A problem of each code.',
          'problemExamples',
          'Readonly<Record<string, Json>>',
          await problemExamples(),
        ),
      ].join('\n'),
    );
  });
});
