import { describe, expect, it } from '@jest/globals';
import {
  createListener,
  createResource,
  createSnapshot,
  deleteListener,
  deleteResource,
  drain,
  EffectRefusedError,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  resume,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type Json,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

import { configuration } from '../../support/configuration.ts';
import { Lives } from '../../support/lives.ts';

const db = (name: string, port = 5432) => ({ name, address: '10.0.0.1', port, protocol: 'pg' });
const listenerAt = (name: string, port: number) => ({ name, protocol: 'pg', address: '::', port });
const value = (text: string) => ({ value: text, configurable: true });

const snapshot = createSnapshot({
  servers: [db('db-1'), db('spare')],
  services: [
    {
      ...{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'] },
      ...{ max_connection: 1, connection_timeout: 1, listeners: [listenerAt('in', 4000)] },
    },
    { name: 'Idle', router: 'cli', state: 'stopped' },
    {
      name: 'Dry',
      router: 'cli',
      state: 'stopped',
      drain: { since: '1970-01-01T00:00:00Z', from: 'started' },
    },
  ],
  monitors: [
    { name: 'Watch', module: 'pgmon', monitor_interval: 1, read_timeout: 1 },
    { name: 'Off', module: 'pgmon', state: 'stopped' },
  ],
  filters: [{ name: 'Hint', module: 'tee', parameters: { a: value('1'), b: value('1') } }],
});

type Collection = Parameters<typeof deleteResource>[1];

/** Operations that set members to values. */
const settingOf = (values: Readonly<Record<string, Json>>): readonly Operation[] =>
  Object.entries(values).map(([path, member]) => ({ op: 'replace', path: `/${path}`, value: member }));
const patchSales =
  (values: Readonly<Record<string, Json>>): Transition =>
  (from, context) =>
    patchService(from, 'Sales', settingOf(values), context);
const patchSpare =
  (values: Readonly<Record<string, Json>>): Transition =>
  (from, context) =>
    patchServer(from, 'spare', settingOf(values), context);
const patchWatch =
  (values: Readonly<Record<string, Json>>): Transition =>
  (from, context) =>
    patchMonitor(from, 'Watch', settingOf(values), context);
const patchHint =
  (values: Readonly<Record<string, Json>>): Transition =>
  (from, context) =>
    patchFilter(from, 'Hint', settingOf(values), context);
const remove =
  (collection: Collection, name: string): Transition =>
  (from, context) =>
    deleteResource(from, collection, name, context, { detach: true });
const addServer =
  (name: string, port?: number): Transition =>
  (from, context) =>
    createResource(from, 'servers', db(name, port), context);
const addIdle: Transition = (from, context) =>
  createResource(from, 'services', { name: 'Idle', router: 'cli', state: 'stopped' }, context);
const addSales: Transition = (from, context) =>
  createResource(from, 'services', { name: 'Sales', router: 'cli' }, context);
const listen =
  (name: string, port: number): Transition =>
  (from, context) =>
    createListener(from, 'Sales', listenerAt(name, port), context);
const addListing: Transition = (from, context) =>
  createResource(
    from,
    'services',
    { name: 'New', router: 'cli', state: 'stopped', servers: ['/servers/spare', '/servers/db-1'] },
    context,
  );
const stop: Transition = (from, context) => stopService(from, 'Sales', context);
const start: Transition = (from, context) => startService(from, 'Sales', context);
const startIdle: Transition = (from, context) => startService(from, 'Idle', context);
const stopIdle: Transition = (from, context) => stopService(from, 'Idle', context);
const stopWatch: Transition = (from, context) => stopMonitor(from, 'Watch', context);
const startWatch: Transition = (from, context) => startMonitor(from, 'Watch', context);
const startOff: Transition = (from, context) => startMonitor(from, 'Off', context);
const drainSales: Transition = (from, context) => drain(from, 'services', 'Sales', {}, context);
const drainSpare: Transition = (from, context) => drain(from, 'servers', 'spare', {}, context);
const resumeSpare: Transition = (from, context) => resume(from, 'servers', 'spare', context);
const resumeDry: Transition = (from, context) => resume(from, 'services', 'Dry', context);
const stopDry: Transition = (from, context) => stopService(from, 'Dry', context);
const unlisten: Transition = (from, context) => deleteListener(from, 'Sales', 'in', context);
const addMaintenance: Transition = (from, context) =>
  patchServer(from, 'spare', [{ op: 'add', path: '/state/-', value: 'maintenance' }], context);

const limits = patchSales({ max_connection: 2, connection_timeout: 2 });
const move = patchSpare({ port: 2, address: '10.0.0.2' });
const probe = patchWatch({ monitor_interval: 2, read_timeout: 2 });
const hint = patchHint({ 'parameters/a/value': '2', 'parameters/b/value': '2' });
const list = patchSales({ servers: ['/servers/db-1', '/servers/spare'] });

/** An abandoned command, and what comes after. */
interface Row {
  readonly abandoned: Transition;
  /** When the gateway carries the call out: before the later commands, or after them. */
  readonly lands: 'before' | 'after' | 'never';
  readonly later?: readonly Transition[];
}

type Rows = readonly (readonly [what: string, row: Row])[];

/** What the next start shows, and what the start has found. */
interface Ending {
  /** The outcomes of the later commands. */
  readonly later: readonly string[];
  /** The configuration before the next start. */
  readonly shown: unknown;
  /** After the next start: the configuration, where the gateway differs from it, and the entry of the command. */
  readonly next: unknown;
}

async function ending({ abandoned, lands, later = [] }: Row): Promise<Ending> {
  const lives = await Lives.begin(snapshot);
  const { id, land } = await lives.abandon(abandoned);
  if (lands === 'before') await land();
  const outcomes: string[] = [];
  for (const step of later) outcomes.push((await lives.admin.execute(step)).outcome);
  if (lands === 'after') await land();
  const shown = configuration(lives.admin.snapshot);
  await lives.restart();
  const { differences, entries } = await lives.standing();
  const next = {
    shown: configuration(lives.admin.snapshot),
    differences,
    entries: entries.filter((each) => each === id),
  };
  await lives.admin.close();
  return { later: outcomes, shown, next };
}

/** The rows of which the next start makes an event of the command, or leaves a difference. */
const happened: Rows = [
  // The gateway keeps a part that nothing shows.
  [
    'a patch of a service before a later patch of one setting',
    { abandoned: limits, lands: 'before', later: [patchSales({ max_connection: 3 })] },
  ],
  [
    'a patch of a server before a later patch of one setting',
    { abandoned: move, lands: 'before', later: [patchSpare({ port: 3 })] },
  ],
  [
    'a patch of a monitor before a later patch of one setting',
    { abandoned: probe, lands: 'before', later: [patchWatch({ monitor_interval: 3 })] },
  ],
  [
    'a patch of a filter before a later patch of one setting',
    { abandoned: hint, lands: 'before', later: [patchHint({ 'parameters/a/value': '3' })] },
  ],
  // The start takes a later command back.
  [
    'a patch of a service after a later patch of one setting',
    { abandoned: limits, lands: 'after', later: [patchSales({ max_connection: 3 })] },
  ],
  [
    'a patch of a server after a later patch of one setting',
    { abandoned: move, lands: 'after', later: [patchSpare({ port: 3 })] },
  ],
  [
    'a patch of a monitor after a later patch of one setting',
    { abandoned: probe, lands: 'after', later: [patchWatch({ monitor_interval: 3 })] },
  ],
  [
    'a patch of a filter after a later patch of one setting',
    { abandoned: hint, lands: 'after', later: [patchHint({ 'parameters/a/value': '3' })] },
  ],
  ['a stop after a stop and a start', { abandoned: stop, lands: 'after', later: [stop, start] }],
  [
    'a start after a start and a stop',
    { abandoned: startIdle, lands: 'after', later: [startIdle, stopIdle] },
  ],
  [
    'a stop of a monitor after a stop and a start',
    { abandoned: stopWatch, lands: 'after', later: [stopWatch, startWatch] },
  ],
  ['the end of a drain after a stop', { abandoned: resumeDry, lands: 'after', later: [stopDry] }],
  [
    'a drain after a drain and its end',
    { abandoned: drainSpare, lands: 'after', later: [drainSpare, resumeSpare] },
  ],
  [
    'a deletion after a deletion and a creation',
    {
      abandoned: remove('servers', 'spare'),
      lands: 'after',
      later: [remove('servers', 'spare'), addServer('spare', 7)],
    },
  ],
  [
    'a deletion of a listener after a deletion and a creation',
    { abandoned: unlisten, lands: 'after', later: [unlisten, listen('in', 4001)] },
  ],
  [
    'a creation after a creation and a deletion',
    { abandoned: addServer('new'), lands: 'after', later: [addServer('NEW'), remove('servers', 'new')] },
  ],
  // The start changes a later resource of the same name.
  [
    'a patch after its service was created again',
    { abandoned: limits, lands: 'after', later: [stop, remove('services', 'Sales'), addSales] },
  ],
  [
    'a start after its service was created again',
    { abandoned: startIdle, lands: 'after', later: [remove('services', 'Idle'), addIdle] },
  ],
  [
    'a maintenance after its server was created again',
    { abandoned: addMaintenance, lands: 'after', later: [remove('servers', 'spare'), addServer('spare')] },
  ],
  // The gateway lists what is gone, or has not what is listed.
  [
    'a list before what it lists is deleted',
    { abandoned: list, lands: 'before', later: [remove('servers', 'spare')] },
  ],
  [
    'a list after what it lists is deleted',
    { abandoned: list, lands: 'after', later: [remove('servers', 'spare')] },
  ],
  [
    'a list before what it lists is created again in another spelling',
    { abandoned: list, lands: 'before', later: [remove('servers', 'spare'), addServer('SPARE')] },
  ],
  [
    'a list after what it lists is created again in another spelling',
    { abandoned: list, lands: 'after', later: [remove('servers', 'spare'), addServer('SPARE')] },
  ],
  [
    'a creation before what it lists is deleted',
    { abandoned: addListing, lands: 'before', later: [remove('servers', 'spare')] },
  ],
  [
    'a deletion before what it deletes is listed',
    { abandoned: remove('servers', 'spare'), lands: 'before', later: [list] },
  ],
  [
    'a deletion after what it deletes is listed',
    { abandoned: remove('servers', 'spare'), lands: 'after', later: [list] },
  ],
  // The start makes an event of the command.
  ['a patch of a service', { abandoned: limits, lands: 'before' }],
  ['a patch of a server', { abandoned: move, lands: 'before' }],
  ['a patch of a monitor', { abandoned: probe, lands: 'before' }],
  ['a patch of a filter', { abandoned: hint, lands: 'before' }],
  ['a stop', { abandoned: stop, lands: 'before' }],
  ['a start', { abandoned: startIdle, lands: 'before' }],
  ['a start of a monitor', { abandoned: startOff, lands: 'before' }],
  ['a drain', { abandoned: drainSales, lands: 'before' }],
  ['the end of a drain', { abandoned: resumeDry, lands: 'before' }],
  ['a maintenance', { abandoned: addMaintenance, lands: 'before' }],
  ['a creation', { abandoned: addServer('new'), lands: 'before' }],
  ['a deletion', { abandoned: remove('filters', 'Hint'), lands: 'before' }],
  ['a creation of a listener', { abandoned: listen('out', 4001), lands: 'before' }],
  ['a deletion of a listener', { abandoned: unlisten, lands: 'before' }],
];

/** The rows of which nothing is left by the next start. */
const gone: Rows = [
  ['no patch', { abandoned: limits, lands: 'never', later: [patchSales({ max_connection: 3 })] }],
  ['no stop', { abandoned: stop, lands: 'never' }],
  [
    'no list of what is created again',
    { abandoned: list, lands: 'never', later: [remove('servers', 'spare'), addServer('SPARE')] },
  ],
  [
    'no creation of what lists a deleted server',
    { abandoned: addListing, lands: 'never', later: [remove('servers', 'spare')] },
  ],
  [
    'no deletion of what is listed since',
    { abandoned: remove('servers', 'spare'), lands: 'never', later: [list] },
  ],
  ['a patch before the same patch', { abandoned: limits, lands: 'before', later: [limits] }],
  ['a patch after the same patch', { abandoned: limits, lands: 'after', later: [limits] }],
  [
    'a start before a start and a stop',
    { abandoned: startIdle, lands: 'before', later: [startIdle, stopIdle] },
  ],
  ['a drain before a stop', { abandoned: drainSales, lands: 'before', later: [stop] }],
  [
    'a patch before its service is created again',
    { abandoned: limits, lands: 'before', later: [stop, remove('services', 'Sales'), addSales] },
  ],
  [
    'a creation before a creation and a deletion',
    { abandoned: addServer('new'), lands: 'before', later: [addServer('NEW'), remove('servers', 'new')] },
  ],
];

describe('an abandoned command', () => {
  it('comes before later commands that are all accepted', async () => {
    for (const [what, row] of [...happened, ...gone]) {
      const { later = [] } = row;
      expect([what, (await ending(row)).later]).toEqual([what, later.map(() => 'accepted')]);
    }
  });

  it.each(gone)('has not happened at the next start if the gateway carries out %s', async (_what, row) => {
    const { shown, next } = await ending(row);
    expect(next).toEqual({ shown, differences: [], entries: [] });
  });

  // Fails until the next start makes no event of an abandoned command, and makes its resources as they are shown.
  it.failing.each(happened)(
    'has not happened, and is taken back by the next start, if the gateway carries out %s',
    async (_what, row) => {
      const { shown, next } = await ending(row);
      expect(next).toEqual({ shown, differences: [], entries: [] });
    },
  );

  /** The way back of a refused sequence hangs, is abandoned, and lands after a later patch of the same setting. */
  async function lateWayBack(): Promise<Lives> {
    const lives = await Lives.begin(snapshot);
    const both = sequence(patchSales({ max_connection: 2 }), stop);
    const { land } = await lives.abandon(both, 'done', new EffectRefusedError('Clients are connected.'));
    const later = await lives.admin.execute(patchSales({ max_connection: 3 }));
    if (later.outcome !== 'accepted') throw new Error(`The later command is ${later.outcome}`);
    await land();
    return lives;
  }

  it('can be abandoned on its way back, and the call in flight then undoes a later command at the gateway', async () => {
    const lives = await lateWayBack();
    expect(lives.gateway.applied.map(({ type }) => type)).toEqual([
      ...['service.update', 'service.stop', 'service.update', 'service.update'],
    ]);
    expect(await lives.standing()).toMatchObject({
      differences: ['/services/sales/settings/max_connection: the gateway has 1, the snapshot 3'],
    });
  });

  // Fails until the next start makes the resources of an abandoned command as they are shown.
  it.failing('has not been taken back, and the next start makes the gateway as it is shown', async () => {
    const lives = await lateWayBack();
    await lives.restart();
    expect((await lives.standing()).differences).toEqual([]);
  });
});
