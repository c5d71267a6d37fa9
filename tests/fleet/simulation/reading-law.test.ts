/**
 * The laws of reading, on readings that a reader can check as well.
 */
import { describe, expect, it } from '@jest/globals';

import { ContentLaw, OnwardLaw, partsSeen, sumFaults, TagLaw, type Reading } from './reading-law.ts';

const sales = (etag: string, body = '{}'): Reading => ({ target: '/services/Sales', etag, body });

describe('a tag stands for one body', () => {
  it.each<[string, readonly Reading[], readonly string[]]>([
    ['of each target', [sales('"a.e-1"', 'a'), { ...sales('"a.e-1"', 'b'), target: '/services' }], []],
    ['and another tag for another', [sales('"a.e-1"', 'a'), sales('"a.e-2"', 'b')], []],
    [
      'or is refused',
      [sales('"a.e-1"', 'a'), sales('"a.e-2"', 'b'), sales('"a.e-1"', 'b')],
      ['shows /services/Sales "a.e-1" as b, and a had that tag before'],
    ],
  ])('%s', (_what, readings, faults) => {
    const law = new TagLaw();
    expect(readings.flatMap((reading) => law.faultsOf(reading))).toEqual(faults);
  });
});

describe('the first part of a tag', () => {
  const service = (tag: string, content: string) => ({ link: '/services/Sales', tag, content });

  it('stands for one content, and each content has one', () => {
    const law = new ContentLaw();
    const another = { ...service('x', 'b'), link: '/services' };
    const right = [service('x', 'a'), service('y', 'b'), service('x', 'a'), another];
    expect(right.flatMap((shown) => law.faultsOf(shown))).toEqual([]);
    expect(law.faultsOf(service('x', 'c'))).toEqual([
      'shows /services/Sales x as c, and a had that tag before',
    ]);
    expect(law.faultsOf(service('z', 'b'))).toEqual(['shows /services/Sales b with z, and it had y before']);
  });
});

describe('what a client reads does not go back', () => {
  it.each<[string, readonly Reading[], readonly string[]]>([
    ['from change to change', [sales('"a.e-1"'), sales('"b.e-4"'), sales('"a.e-5"'), sales('"a.e-5"')], []],
    ['for the change of another target', [sales('"a.e-5"'), { ...sales('"a.e-1"'), target: '/users' }], []],
    [
      'to an older change',
      [sales('"a.e-6"'), sales('"a.e-5;id"')],
      ['goes back: the revision of GET /services/Sales is 5 after 6'],
    ],
    [
      'and has a revision',
      [sales('"a.x"')],
      ['shows /services/Sales with the tag "a.x", which has no revision'],
    ],
  ])('%s', (_what, readings, faults) => {
    const law = new OnwardLaw();
    expect(readings.flatMap((reading) => law.faultsOf(reading))).toEqual(faults);
  });

  it('neither as a resource of a snapshot, nor as its revision', () => {
    const law = new OnwardLaw();
    const moments = ['a', 'b', 'a', 'c'];
    const seen = (content: string): readonly string[] =>
      law.faultsOfSight('/users', (from) => {
        const at = moments.indexOf(content, from);
        return at === -1 ? undefined : at;
      });
    expect(['a', 'b', 'a', 'a'].flatMap(seen)).toEqual([]);
    expect([...seen('b'), ...law.faultsOfRevision(3), ...law.faultsOfRevision(2)]).toEqual([
      'goes back: /users is as it was before moment 2',
      'goes back: the revision is 2 after 3',
    ]);
  });
});

describe('a change is seen', () => {
  const links = ['/services/Sales', '/monitors/Watch', '/filters/Hint'];
  const changes = links.map((link) => ({ link, from: 'before', to: 'after' }));

  it.each<[string, readonly (string | undefined)[], readonly string[]]>([
    ['not at all', ['before', 'before', undefined], []],
    ['as a whole', ['after', 'after', 'after'], []],
    ['with later changes', ['after', 'later', undefined], []],
    [
      'never in part',
      [undefined, 'after', 'before'],
      ['shows the change of /monitors/Watch by s-1, and not that of /filters/Hint'],
    ],
  ])('%s', (_what, contents, faults) => {
    const revision = { node: 'a', command: 's-1', changes, moment: 0 };
    expect(partsSeen(revision, (link) => contents[links.indexOf(link)])).toEqual(faults);
  });
});

describe('the entries of a history, the newest first, amount to the document', () => {
  const service = { name: 'Sales', router: 'readconnroute' };
  const beginning = { services: [service] };
  const [resource, path] = ['/services/Sales', '/max_connection'];
  const setting = (value: number) => ({
    events: [{ type: 'service.updated', resource, operations: [{ op: 'add', path, value }] }],
  });
  const history = [setting(2), { events: [{ type: 'service.stopped', resource }] }, setting(1)];

  it.each<[string, object, number]>([
    ['as they do here', { max_connection: 2, state: 'stopped' }, 0],
    ['and not to an earlier one', { max_connection: 1, state: 'stopped' }, 1],
    ['and leave nothing out', { max_connection: 2 }, 1],
  ])('%s', (_what, fields, count) => {
    const document = { services: [{ ...service, ...fields }] };
    expect(sumFaults({ beginning, history, document })).toHaveLength(count);
  });
});
