/**
 * The laws of reading, on readings that a reader can check as well.
 */
import { describe, expect, it } from '@jest/globals';

import { OnwardLaw, partsSeen, sumFaults, TagLaw, type Reading } from './reading-law.ts';

const sales = (etag: string, body = '{}'): Reading => ({ target: '/services/Sales', etag, body });

const own = String(2 ** 52);

describe('a tag stands for one body', () => {
  it.each<[string, readonly Reading[], readonly string[]]>([
    ['of each target', [sales('"e.1.1"', 'a'), { ...sales('"e.1.1"', 'b'), target: '/services' }], []],
    ['and another tag for another', [sales('"e.1.1"', 'a'), sales('"e.1.2"', 'b')], []],
    [
      'or is refused',
      [sales('"e.1.1"', 'a'), sales('"e.1.2"', 'b'), sales('"e.1.1"', 'b')],
      ['shows /services/Sales "e.1.1" as b, and a had that tag before'],
    ],
  ])('%s', (_what, readings, faults) => {
    const law = new TagLaw();
    expect(readings.flatMap((reading) => law.faultsOf(reading))).toEqual(faults);
  });
});

describe('what a client reads does not go back', () => {
  it.each<[string, readonly Reading[], readonly string[]]>([
    ['from change to change', [sales('"e.1.1"'), sales('"e.1.4"'), sales('"e.5.5"'), sales('"e.5.5"')], []],
    ['from what one node alone has', [sales(`"e.${own}.${own}"`), sales(`"e.5.${own}"`)], []],
    ['for the change of another target', [sales('"e.5.5"'), { ...sales('"e.1.1"'), target: '/users' }], []],
    [
      'to an older command',
      [sales('"e.5.6"'), sales('"e.1.7"')],
      ['goes back: the command number of GET /services/Sales is 1 after 5'],
    ],
    [
      'to an older report',
      [sales('"e.5.6"'), sales('"e.5.5;id"')],
      ['goes back: the live number of GET /services/Sales is 5 after 6'],
    ],
    [
      'and has numbers',
      [sales('"e.x.6"')],
      ['shows /services/Sales with the tag "e.x.6", which has no numbers'],
    ],
  ])('%s', (_what, readings, faults) => {
    const law = new OnwardLaw();
    expect(readings.flatMap((reading) => law.faultsOf(reading))).toEqual(faults);
  });

  it('neither as a resource of a snapshot, nor as its revision', () => {
    const law = new OnwardLaw();
    const link = '/users';
    expect([
      ...law.faultsOfSight({ link, command: 4 }),
      ...law.faultsOfRevision(3),
      ...law.faultsOfSight({ link, command: 3 }),
      ...law.faultsOfRevision(2),
    ]).toEqual([
      'goes back: the command number of /users is 3 after 4',
      'goes back: the revision is 2 after 3',
    ]);
  });
});

describe('a revision is seen', () => {
  const links = ['/services/Sales', '/monitors/Watch', '/filters/Hint'];
  const revision = { node: 'a', command: 's-1', number: 7, links };

  it.each<[string, readonly (number | undefined)[], readonly string[]]>([
    ['not at all', [3, 0, undefined], []],
    ['as a whole', [7, 7, 7], []],
    ['with later changes', [7, 9, undefined], []],
    [
      'never in part',
      [undefined, 7, 6],
      ['shows the change of /monitors/Watch by s-1, and not that of /filters/Hint'],
    ],
  ])('%s', (_what, numbers, faults) => {
    expect(partsSeen(revision, (link) => numbers[links.indexOf(link)])).toEqual(faults);
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
