import { describe, expect, it } from '@jest/globals';
import {
  patchFilter,
  patchMonitor,
  type Filter,
  type Operation,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import { expectAccepted, expectRefused, expectUnchanged } from '../support/expect-decision.ts';

type FilterParameter = Filter['settings']['parameters'][string];

const patch =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchFilter(snapshot, 'HINT', operations, context);
const parametersOf = (snapshot: Snapshot): Readonly<Record<string, FilterParameter>> =>
  snapshot.filters.find('hint')?.settings.parameters ?? {};

describe('patching a filter', () => {
  it('replaces the value of a parameter', () => {
    const { next, events, effects } = expectAccepted(
      patch({ op: 'replace', path: '/parameters/match/value', value: 'x' }),
    );
    expect(parametersOf(next)['match']).toEqual({ value: 'x', configurable: true });
    const operations = [{ op: 'replace', path: '/parameters/match/value', value: 'x' }];
    expect(events).toMatchObject([
      { type: 'filter.updated', filter: 'hint', resource: '/filters/Hint', operations },
    ]);
    expect(effects).toMatchObject([{ type: 'filter.update', filter: 'hint', operations }]);
  });

  it.each<[string, Operation, FilterParameter]>([
    [
      'its value',
      { op: 'add', path: '/parameters/new/value', value: 'x' },
      { value: 'x', configurable: true },
    ],
    ['a text', { op: 'add', path: '/parameters/new', value: 'x' }, { value: 'x', configurable: true }],
    [
      'an object',
      { op: 'add', path: '/parameters/new', value: { value: 'x' } },
      { value: 'x', configurable: true },
    ],
    [
      'a whole object',
      { op: 'add', path: '/parameters/new', value: { value: 'x', configurable: false } },
      { value: 'x', configurable: false },
    ],
    [
      'a copy',
      { op: 'copy', from: '/parameters/match', path: '/parameters/new' },
      { value: 'select', configurable: true },
    ],
  ])('adds a parameter by %s', (_what, operation, expected) => {
    expect(parametersOf(expectAccepted(patch(operation)).next)['new']).toEqual(expected);
  });

  it('lets later operations see a parameter that an earlier one added', () => {
    const { next } = expectAccepted(
      patch(
        { op: 'add', path: '/parameters/new/value', value: 'x' },
        { op: 'test', path: '/parameters/new/configurable', value: true },
        { op: 'replace', path: '/parameters/new/value', value: 'y' },
      ),
    );
    expect(parametersOf(next)['new']).toEqual({ value: 'y', configurable: true });
  });

  it('removes a parameter that is configurable', () => {
    expect(parametersOf(expectAccepted(patch({ op: 'remove', path: '/parameters/match' })).next)).toEqual({
      source: { value: '127.0.0.1', configurable: false },
    });
  });

  it.each<[string, readonly Operation[]]>([
    ['a value is as it was', [{ op: 'replace', path: '/parameters/match/value', value: 'select' }]],
    [
      'a value that cannot be configured is set to its old value',
      [{ op: 'replace', path: '/parameters/source/value', value: '127.0.0.1' }],
    ],
    [
      'a test holds',
      [{ op: 'test', path: '/parameters/source', value: { configurable: false, value: '127.0.0.1' } }],
    ],
    [
      'the services are tested',
      [{ op: 'test', path: '/services', value: ['/services/My-Service', '/services/Report-Service'] }],
    ],
    [
      'an added parameter is removed again',
      [
        { op: 'add', path: '/parameters/new', value: 'x' },
        { op: 'remove', path: '/parameters/new' },
      ],
    ],
  ])('changes nothing when %s', (_what, operations) => {
    expectUnchanged(patch(...operations));
  });

  it.each<[string, Operation]>([
    ['parameter-not-configurable', { op: 'replace', path: '/parameters/source/value', value: 'x' }],
    ['parameter-not-configurable', { op: 'remove', path: '/parameters/source' }],
    [
      'parameter-not-configurable',
      { op: 'add', path: '/parameters/source', value: { value: 'x', configurable: true } },
    ],
    ['parameter-not-configurable', { op: 'replace', path: '/parameters', value: {} }],
    ['field-not-modifiable', { op: 'replace', path: '/parameters/match/configurable', value: false }],
    ['field-not-modifiable', { op: 'replace', path: '/parameters/source/configurable', value: true }],
    [
      'field-not-modifiable',
      { op: 'add', path: '/parameters/match', value: { value: 'select', configurable: false } },
    ],
    ['field-not-modifiable', { op: 'replace', path: '/module', value: 'x' }],
    ['field-not-modifiable', { op: 'add', path: '/services/-', value: '/services/Bare-Service' }],
    ['field-unknown', { op: 'add', path: '/match', value: 'x' }],
    ['patch-path-missing', { op: 'replace', path: '/parameters/new/value', value: 'x' }],
    ['patch-path-missing', { op: 'remove', path: '/parameters/new' }],
    ['patch-path-missing', { op: 'replace', path: '/parameters/toString/value', value: 'x' }],
    ['reserved-key', { op: 'add', path: '/parameters/__proto__/value', value: 'x' }],
    ['reserved-key', { op: 'add', path: '/parameters/constructor', value: 'x' }],
    ['validation-failed', { op: 'replace', path: '/parameters/match/value', value: 7 }],
    ['validation-failed', { op: 'remove', path: '/parameters/match/value' }],
    ['validation-failed', { op: 'add', path: '/parameters/new', value: 7 }],
    ['validation-failed', { op: 'add', path: '/parameters/new', value: { value: 'x', configurable: 'yes' } }],
    ['validation-failed', { op: 'copy', from: '/parameters/match/value', path: '/parameters/new' }],
    ['validation-failed', { op: 'remove', path: '/parameters' }],
    ['field-unknown', { op: 'add', path: '/parameters/match/more', value: 'x' }],
  ])('is refused with %s for %j', (code, operation) => {
    expect(expectRefused(patch(operation)).code).toBe(code);
  });

  it('is refused when there is no such filter', () => {
    const transition: Transition = (snapshot, context) => patchFilter(snapshot, 'nothing', [], context);
    expect(expectRefused(transition).code).toBe('filter-not-found');
  });
});

describe('patching a monitor', () => {
  const patchIt =
    (...operations: readonly Operation[]): Transition =>
    (snapshot, context) =>
      patchMonitor(snapshot, 'main monitor', operations, context);

  it('gives one event and one effect, and the monitor stays started', () => {
    const { next, events, effects } = expectAccepted(
      patchIt({ op: 'replace', path: '/monitor_interval', value: 1 }, { op: 'remove', path: '/servers/0' }),
    );
    const before = sampleSnapshot().monitors.find('main-monitor')?.settings;
    const after = { ...before, monitor_interval: 1, servers: ['/servers/DB-Server-2'] };
    expect(events).toMatchObject([{ type: 'monitor.updated', monitor: 'main-monitor', before, after }]);
    expect(effects).toMatchObject([
      { type: 'monitor.update', resource: '/monitors/Main-Monitor', before, after },
    ]);
    expect(next.monitors.find('main-monitor')).toMatchObject({ state: 'started', settings: after });
  });

  it('reports a value of a wrong type and a parameter that is not configurable at once', () => {
    const problem = expectRefused(
      patch(
        { op: 'replace', path: '/parameters/match/value', value: 7 },
        { op: 'replace', path: '/parameters/source/value', value: 'x' },
      ),
    );
    expect(problem.errors).toMatchObject([
      { pointer: '/parameters/match/value', operation: 0, code: 'validation-failed' },
      { pointer: '/parameters/source', operation: 1, code: 'parameter-not-configurable' },
    ]);
  });

  it('reports every fault at once', () => {
    const problem = expectRefused(
      patchIt(
        { op: 'replace', path: '/monitor_interval', value: 0 },
        { op: 'replace', path: '/read_timeout', value: -1 },
        { op: 'replace', path: '/servers', value: ['/servers/nothing', '/servers/db-serv-1'] },
      ),
    );
    expect(
      problem.errors?.map(({ pointer, operation, code }) => [pointer, operation, code]).toSorted(),
    ).toEqual([
      ['/monitor_interval', 0, 'validation-failed'],
      ['/read_timeout', 1, 'validation-failed'],
      ['/servers/0', 2, 'link-unresolved'],
    ]);
  });

  it('is refused for a missing monitor, and for a field that cannot be modified', () => {
    expect(expectRefused((snapshot, context) => patchMonitor(snapshot, 'nothing', [], context)).code).toBe(
      'monitor-not-found',
    );
    for (const path of ['/name', '/module', '/state']) {
      expect(expectRefused(patchIt({ op: 'replace', path, value: 'x' })).code).toBe('field-not-modifiable');
    }
  });
});
