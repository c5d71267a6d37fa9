import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as z from 'zod/mini';

import * as shape from '../../src/core/shape.ts';
import { fieldTables } from '../../src/resources/index.ts';
import { valuesOf } from '../support/arbitrary-shape.ts';

const tables = Object.entries(fieldTables);

describe('the arbitrary values of a shape', () => {
  it.each(tables)(
    'are what an entry of a %s in a document may be, and what clients may see',
    (_kind, fields) => {
      for (const each of [fields.document, fields.representation]) {
        fc.assert(
          fc.property(valuesOf(each), (value) => {
            expect(z.safeParse(each, value).error?.issues).toBeUndefined();
          }),
          { numRuns: 20 },
        );
      }
    },
  );

  it.each([
    ['a name', shape.name, '__proto__'],
    ['a text', shape.text(255), ''],
    ['an address', shape.address, '::1'],
    ['a port', shape.port, 65_535],
    ['an id', shape.id, 0],
    ['links', shape.links, []],
    ['options', shape.options, {}],
  ])('of %s have what trips programs up', (_what, of, value) => {
    expect(fc.sample(valuesOf(of as z.core.$ZodType), { numRuns: 1000, seed: 7 })).toContainEqual(value);
  });

  it('leave out an optional member now and then', () => {
    const values = fc.sample(valuesOf(z.strictObject({ a: z.exactOptional(z.boolean()) })), {
      numRuns: 100,
      seed: 7,
    });
    expect(new Set(values.map((value) => JSON.stringify(value)))).toEqual(
      new Set(['{}', '{"a":true}', '{"a":false}']),
    );
  });

  it('say of a shape that they do not know what has to be added, and where', () => {
    expect(() => valuesOf(z.bigint(), 'server.zone')).toThrow(/"bigint" \(server\.zone\).*arbitrary-shape/);
    expect(() => valuesOf(z.string().check(z.regex(/^zone-\d+$/)), 'server.zone')).toThrow(
      /server\.zone.*arbitrary-shape/,
    );
  });
});
