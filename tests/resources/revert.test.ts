import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  applyReports,
  canRevert,
  createSnapshot,
  createUser,
  deleteUser,
  evolve,
  patchFilter,
  patchServer,
  patchService,
  revert,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  redactSecrets,
  type AdminEvent,
  type Operation,
  type ServerStatusWord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import { parsePointer } from 'gateway-admin-core/json';

import {
  operationsOn,
  patchSubject,
  settingsOf,
  subjectPatches,
  type Subject,
} from '../support/arbitrary-patch.ts';
import { sampleSnapshot } from '../support/document.ts';
import { eventTypes } from '../support/event-type.ts';
import { frozen } from '../support/frozen.ts';
import { planted } from '../support/planted.ts';
import {
  expectAccepted,
  expectDecision,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';
import { modelPatch, modelValueAt, textOf } from '../support/patch-model.ts';
import { shown } from '../support/shown.ts';

const sample = sampleSnapshot();

type Members = Readonly<Record<string, unknown>>;

type Updated = Extract<AdminEvent, { readonly type: `${string}.updated`; readonly operations: object }>;

/** A patch of a resource of the sample that changes it. */
interface Change {
  readonly subject: Subject;
  readonly before: Snapshot;
  readonly next: Snapshot;
  readonly event: Updated;
}

const changes: fc.Arbitrary<Change | undefined> = subjectPatches.map(([subject, operations]) =>
  changeOf(subject, operations, sample),
);

function changeOf(
  subject: Subject,
  operations: readonly Operation[],
  snapshot: Snapshot,
): Change | undefined {
  const decision = patchSubject(subject, operations, snapshot, someTime);
  return decision.outcome === 'accepted'
    ? { subject, before: snapshot, next: decision.next, event: decision.events[0] as Updated }
    : undefined;
}

function forEachChange(law: (change: Change) => void, numRuns: number): void {
  const property = fc.property(changes, (change) => {
    fc.pre(change !== undefined);
    law(change);
  });
  fc.assert(property, { numRuns, maxSkipsPerRun: 1000 });
}

type SubjectPatch = readonly [Subject, readonly Operation[]];

/** Patches that change something. Filtered one by one: most are refused, and of two both would have to be accepted. */
const effective = subjectPatches.filter(
  ([subject, operations]) => changeOf(subject, operations, sample)?.event.operations.length !== undefined,
);

/** Two changes, one after the other. */
function forEachPair(
  pairs: fc.Arbitrary<readonly [SubjectPatch, SubjectPatch]>,
  law: (change: Change, later: Change) => void,
  numRuns: number,
): void {
  const property = fc.property(pairs, ([[subject, operations], [other, more]]) => {
    const change = changeOf(subject, operations, sample);
    fc.pre(change !== undefined && change.event.operations.length > 0);
    const later = changeOf(other, more, change.next);
    fc.pre(later !== undefined);
    law(change, later);
  });
  fc.assert(property, { numRuns, maxSkipsPerRun: 1000 });
}

const textIn = (snapshot: Snapshot, subject: Subject): string => textOf(settingsOf(subject, snapshot));

/**
 * The list, the member of a map or the field that an operation is about. A rule ties a port to its address: one place.
 */
function placeOf(settings: object, path: string): string {
  const [field = '', member] = path.split('/').slice(1);
  if (field === 'port') return '/address';
  const isList = Array.isArray(modelValueAt(settings, `/${field}`));
  return isList || member === undefined ? `/${field}` : `/${field}/${member}`;
}

function placesOf({ subject, before, event: { operations } }: Change): readonly string[] {
  return operations.map(({ path }) => placeOf(settingsOf(subject, before), path));
}

function areApart(one: readonly string[], other: readonly string[]): boolean {
  const isWithin = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`);
  return one.every((a) => other.every((b) => !isWithin(a, b) && !isWithin(b, a)));
}

describe('reverting a patch', () => {
  // Promise: undo
  it('restores the old settings, and reverting the revert restores the patch', () => {
    forEachChange(({ subject, next, event }) => {
      const undone = expectDecision(revert(event), next);
      expect(undone.outcome).toBe(event.operations.length === 0 ? 'unchanged' : 'accepted');
      expect(textIn(undone.next, subject)).toBe(textIn(sample, subject));
      if (undone.outcome !== 'accepted') return;
      const [again] = undone.events as readonly Updated[];
      expect(again?.type).toBe(event.type);
      expect([again?.from, again?.to].map(textOf)).toEqual([event.to, event.from].map(textOf));
      const redone = expectAccepted(again === undefined ? sequence() : revert(again), undone.next);
      expect(textIn(redone.next, subject)).toBe(textIn(next, subject));
    }, 60);
  });

  it('keeps later changes of other resources', () => {
    forEachPair(
      fc.tuple(effective, effective).filter(([[subject], [other]]) => other !== subject),
      ({ subject, event }, later) => {
        const { next: undone } = expectAccepted(revert(event), later.next);
        expect(textIn(undone, subject)).toBe(textIn(sample, subject));
        expect(textIn(undone, later.subject)).toBe(textIn(later.next, later.subject));
      },
      50,
    );
  });

  it('keeps later changes in other places of the same resource', () => {
    const twice = ([subject, operations]: SubjectPatch): fc.Arbitrary<
      readonly [SubjectPatch, SubjectPatch]
    > =>
      operationsOn(subject).map((more) => [
        [subject, operations],
        [subject, more],
      ]);
    forEachPair(
      effective.chain(twice),
      (change, later) => {
        fc.pre(areApart(placesOf(change), placesOf(later)));
        const { next: undone } = expectAccepted(revert(change.event), later.next);
        const expected = modelPatch(settingsOf(change.subject, sample), later.event.operations);
        expect(textOf({ done: true, document: settingsOf(change.subject, undone) })).toBe(textOf(expected));
      },
      20,
    );
  });

  // Promise: undo-conflict
  it('is refused and changes nothing if the same place has changed since', () => {
    forEachChange(({ next, event }) => {
      for (const { path } of event.operations) {
        // The words of a status go back one by one, as the tests of a status below say.
        if (path.startsWith('/state')) continue;
        const problem = expectRefused(revert(event), changedSince(next, event, path));
        expect(problem).toMatchObject({ code: 'patch-test-failed', status: 409 });
        expect(problem.errors).toHaveLength(1);
        for (const secret of ['v1.', planted.sealed]) expect(JSON.stringify(problem)).not.toContain(secret);
      }
    }, 60);
  });

  it('is refused if a later change of another field leaves a rule broken', () => {
    const toSocket = patchServer.bind(null, sample, 'db-serv-1');
    const change = toSocket([{ op: 'replace', path: '/address', value: '/run/db' }], someTime);
    const [event] = change.outcome === 'accepted' ? change.events : [];
    if (event === undefined) throw new Error('A socket is an address');
    const later = patchServer(change.next, 'db-serv-1', [{ op: 'remove', path: '/port' }], someTime);
    expect(later.outcome).toBe('accepted');
    const { status, errors } = expectRefused(revert(event), later.next);
    expect({ status, errors }).toMatchObject({ status: 422, errors: [{ pointer: '/port' }] });
  });

  it('works with an event from a journal as with an event from a decision', () => {
    forEachChange(({ next, event }) => {
      const read = JSON.parse(JSON.stringify(event)) as AdminEvent;
      expect(JSON.stringify(expectDecision(revert(read), next))).toBe(
        JSON.stringify(expectDecision(revert(event), next)),
      );
    }, 20);
  });
});

/**
 * The snapshot once something else has been put where an update put something, or took it away. A list is again as it
 * was before the update.
 */
function changedSince(snapshot: Snapshot, { from, ...event }: Updated, path: string): Snapshot {
  const [field = '', member] = parsePointer(path) ?? [];
  const [old, left] = [from, event.to].map((each) => (each as Members)[field]);
  const isMap = typeof left === 'object' && !Array.isArray(left) && member !== undefined;
  const other = isMap ? { ...left, [member]: 'other' } : 'other';
  const to = { [field]: Array.isArray(old) ? old : other };
  const later = frozen({ ...event, from: left === undefined ? {} : { [field]: left }, to });
  return evolve(snapshot, [later as unknown as AdminEvent]);
}

const serviceStep =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', operations, context);

/** The last event of a transition that is accepted, and what came of it. */
function after(
  transition: Transition,
  snapshot?: Snapshot,
): { readonly next: Snapshot; readonly event: AdminEvent } {
  const { next, events } = expectAccepted(transition, snapshot);
  const event = events.at(-1);
  if (event === undefined) throw new Error('Nothing happened');
  return { next, event };
}

describe('reverting a change of a list', () => {
  const append = (link: string): Transition => serviceStep({ op: 'add', path: '/servers/-', value: link });
  const remove = (at: number): Transition => serviceStep({ op: 'remove', path: `/servers/${String(at)}` });
  const move = (from: number, to: number): Transition =>
    serviceStep({ op: 'move', from: `/servers/${String(from)}`, path: `/servers/${String(to)}` });
  const serversIn = (snapshot: Snapshot): unknown => snapshot.services.find('my-service')?.settings.servers;
  const [one, two, three] = ['/servers/db-serv-1', '/servers/DB-Server-2', '/servers/db-serv-3'];

  it('removes the added item, and keeps an item that was added later', () => {
    const bare = after(serviceStep({ op: 'replace', path: '/servers', value: [one] })).next;
    const first = after(append(two), bare);
    const second = after(append(three), first.next);
    const { next } = expectAccepted(revert(first.event), second.next);
    expect(serversIn(next)).toEqual([one, three]);
    expect(serversIn(expectAccepted(revert(second.event), next).next)).toEqual([one]);
  });

  it.each<[string, Transition, Transition, readonly string[]]>([
    ['at its old position', remove(0), append(three), [one, two, three]],
    [
      'although another item came into its place',
      remove(0),
      serviceStep({ op: 'add', path: '/servers/0', value: three }),
      [one, three, two],
    ],
    [
      'behind the item that it followed',
      remove(1),
      serviceStep({ op: 'add', path: '/servers/0', value: three }),
      [three, one, two],
    ],
    [
      'at the end if the item that it followed is gone',
      remove(1),
      serviceStep({ op: 'replace', path: '/servers', value: [three] }),
      [three, two],
    ],
  ])('puts a removed item back %s', (_what, change, later, servers) => {
    const { next, event } = after(change);
    expect(serversIn(expectAccepted(revert(event), after(later, next).next).next)).toEqual(servers);
  });

  it.each<[string, Transition, Transition]>([
    ['the removed item was added again', remove(1), append(two)],
    ['the added item is gone', append(three), remove(2)],
    ['an item that was moved has moved since', move(0, 1), move(0, 1)],
  ])('is refused if %s', (_what, change, later) => {
    const { next, event } = after(change);
    expect(expectRefused(revert(event), after(later, next).next)).toMatchObject({
      code: 'patch-test-failed',
      detail: '/services/My-Service has changed since at /servers. Nothing was changed.',
      errors: [{ pointer: '/servers', code: 'patch-test-failed', detail: 'has changed since' }],
    });
  });
});

describe('reverting a change of a status after the monitor has reported', () => {
  const name = 'db-1';
  const server = { name, address: '10.0.0.1', port: 5432, protocol: 'pg' };
  const patchState =
    (operations: readonly Operation[]): Transition =>
    (snapshot, context) =>
      patchServer(snapshot, name, operations, context);
  const stateOf = (snapshot: Snapshot): unknown => shown(snapshot.servers.find(name))?.settings.state;
  const set: Operation = { op: 'add', path: '/state/-', value: 'maintenance' };
  const clear: Operation = { op: 'remove', path: '/state/0' };
  const replace: Operation = { op: 'replace', path: '/state', value: ['maintenance'] };
  const up = ['running'] as const;

  it.each<
    [string, readonly ServerStatusWord[], Operation, readonly ServerStatusWord[], readonly ServerStatusWord[]]
  >([
    ['setting maintenance', up, set, ['slave', 'running'], ['slave', 'running']],
    ['setting maintenance, and the server went down', up, set, [], []],
    ['clearing maintenance', ['maintenance'], clear, up, ['maintenance', 'running']],
    ['clearing, and the server went down', ['maintenance', 'running'], clear, [], ['maintenance']],
    ['replacing all by maintenance', up, replace, up, up],
    ['replacing all, and nothing was reported', ['master', 'running'], replace, [], ['master', 'running']],
  ])('works for %s', (_what, before, operation, status, after) => {
    const snapshot = createSnapshot({ servers: [{ ...server, status: before }] });
    const { next, events } = expectAccepted(patchState([operation]), snapshot);
    const later = applyReports(next, [{ type: 'server.reported', server: name, status }], { now: 0 }).next;
    const [event] = events;
    if (event === undefined) throw new Error('A patch gives one update');
    expect(stateOf(expectAccepted(revert(event), later).next)).toEqual(after);
  });
});

describe('reverting a change of a member', () => {
  const option = '/router_options/weights';

  it('is refused if the removed member was added again, even with the same value', () => {
    for (const value of ['on', 'off']) {
      const removed = after(serviceStep({ op: 'remove', path: option }));
      const later = after(serviceStep({ op: 'add', path: option, value }), removed.next).next;
      const detail = 'has changed since';
      const problem = expectRefused(revert(removed.event), later);
      expect(problem).toMatchObject({ code: 'patch-test-failed', errors: [{ pointer: option, detail }] });
    }
  });

  it('is refused if the added member is gone, as after a first revert', () => {
    const added = after(serviceStep({ op: 'add', path: '/router_options/new', value: 'x' }));
    const undone = after(revert(added.event), added.next).next;
    expect(expectRefused(revert(added.event), undone)).toMatchObject({
      code: 'patch-test-failed',
      errors: [{ pointer: '/router_options/new' }],
    });
  });

  it('works for more changes than a patch can have operations', () => {
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`option ${String(at)}`, 'x']));
    const { next, event } = after(serviceStep({ op: 'add', path: '/router_options', value: many }));
    expect(expectAccepted(revert(event), next).next.services.find('my-service')?.settings).toEqual(
      sample.services.find('my-service')?.settings,
    );
  });

  it('removes an added parameter that is not configurable', () => {
    const value = { value: 'x', configurable: false };
    const { next, event } = after((snapshot, context) =>
      patchFilter(snapshot, 'Hint', [{ op: 'add', path: '/parameters/fixed', value }], context),
    );
    const { next: undone } = expectAccepted(revert(event), next);
    expect(undone.filters.find('hint')?.settings).toEqual(sample.filters.find('hint')?.settings);
  });
});

describe('reverting a password', () => {
  const set = (sealed: string): Transition =>
    serviceStep({ op: 'replace', path: '/password', value: { sealed } });
  const sealedIn = (snapshot: Snapshot): unknown =>
    snapshot.services.find('my-service')?.settings.password?.sealed;

  it('restores the old sealed text, or no password', () => {
    const { next, event } = after(set('v1.new'));
    expect(sealedIn(expectAccepted(revert(event), next).next)).toBe(planted.sealed);
    const without = after(serviceStep({ op: 'remove', path: '/password' })).next;
    const first = after(set('v1.new'), without);
    expect(sealedIn(expectAccepted(revert(first.event), first.next).next)).toBeUndefined();
  });

  it('is refused if the password was set again, and the message contains no secret', () => {
    const { next, event } = after(set('v1.new'));
    const problem = expectRefused(revert(event), after(set('v1.newer'), next).next);
    expect(problem).toMatchObject({ code: 'patch-test-failed', errors: [{ pointer: '/password' }] });
    expect(JSON.stringify(problem)).not.toMatch(/v1\.|sealed/);
  });

  it('changes nothing if the sealed text had not changed', () => {
    const { next, event } = after(set(planted.sealed));
    expectUnchanged(revert(event), next);
  });

  it('is refused for an event with redacted secrets', () => {
    const { next, event } = after(set('v1.new'));
    const shown = redactSecrets(event) as unknown as AdminEvent;
    expect(expectRefused(revert(shown), next).code).toBe('patch-malformed');
  });
});

describe('reverting a start or a stop', () => {
  const start: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);
  const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

  it.each<[string, Transition, string]>([
    ['a started service', start, 'service.stopped'],
    ['a stopped service', stop, 'service.started'],
    ['a started monitor', (...on) => startMonitor(on[0], 'Idle Monitor', on[1]), 'monitor.stopped'],
    ['a stopped monitor', (...on) => stopMonitor(on[0], 'Main Monitor', on[1]), 'monitor.started'],
  ])('does the opposite: %s', (_, transition, type) => {
    const { next, event } = after(transition);
    const undone = after(revert(event), next);
    expect(undone.event).toMatchObject({ type, resource: event.resource });
    expectUnchanged(revert(event), undone.next);
    const again = after(revert(undone.event), undone.next);
    expect(again.event.type).toBe(event.type);
    // Also after other commands.
    expect(after(revert(event), again.next).event.type).toBe(type);
  });

  it('is refused if the service is gone', () => {
    const patched = after(serviceStep({ op: 'replace', path: '/max_connection', value: 1 })).event;
    for (const event of [after(start).event, patched])
      expect(expectRefused(revert(event), createSnapshot({})).code).toBe('service-not-found');
  });
});

describe('reverting a new user', () => {
  const create =
    (passwordHash: string): Transition =>
    (...given) =>
      createUser(given[0], { name: 'Joan', password: { sealed: passwordHash } }, given[1]);
  const remove: Transition = (...given) => deleteUser(given[0], 'joan', given[1]);

  it('deletes the user, except the last user if a log-in is required', () => {
    const { next, event } = after(create('opaque'));
    const undone = after(revert(event), next);
    expect(undone.next.users.find('joan')).toBeUndefined();
    expect(expectRefused(revert(event), undone.next).code).toBe('user-not-found');
    const alone = after(create('opaque'), createSnapshot({}));
    const required = { ...someTime, authentication: 'required' } as const;
    expect(expectRefused(revert(alone.event), alone.next, required).code).toBe('last-user');
    const withRoles = { ...required, isAdministrator: (name: string) => name === 'Joan' };
    expect(expectRefused(revert(event), next, withRoles).code).toBe('last-administrator');
  });

  it('is refused if the user with this name may be another one, and the message contains no hash', () => {
    const { next, event } = after(create('opaque-1'));
    const other = after(create('opaque-2'), after(remove, next).next);
    const shown = redactSecrets(event) as unknown as AdminEvent;
    for (const each of [event, { ...event, user: 'JOAN' } as AdminEvent, shown]) {
      const problem = expectRefused(revert(each), other.next);
      expect(problem).toMatchObject({ code: 'patch-test-failed', status: 409 });
      expect(JSON.stringify(problem)).not.toContain('opaque');
      expect(problem.detail).toMatch(
        /^The present user of this name may not be the user that .* To remove the present user, delete the user by name\.$/,
      );
    }
    expect(expectRefused(revert(shown), next).code).toBe('patch-test-failed');
    expect(after(revert(other.event), other.next).event.type).toBe('user.deleted');
  });
});

describe('revert', () => {
  const asPublished = 'Pass the event as it was published, with its secrets.';

  it('is a transition that sequence can combine, the last change first', () => {
    const first = after(serviceStep({ op: 'replace', path: '/max_connection', value: 1 }));
    const second = after(serviceStep({ op: 'replace', path: '/max_connection', value: 2 }), first.next);
    const { next, events } = expectAccepted(sequence(revert(second.event), revert(first.event)), second.next);
    expect(next.services.find('my-service')?.settings.max_connection).toBe(100);
    expect(events).toHaveLength(2);
    expect(expectRefused(revert(first.event), second.next).code).toBe('patch-test-failed');
  });

  it.each<[string, object, object]>([
    ['has no part before', { from: undefined }, { code: 'op-not-allowed' }],
    ['has no part after', { to: null }, { code: 'op-not-allowed' }],
    ['has a list for a part', { from: [] }, { code: 'op-not-allowed' }],
    [
      'changes what is no setting',
      { from: { name: 'other' }, to: { name: 'db-serv-1' } },
      { code: 'op-not-allowed', detail: `The update must be of settings alone. ${asPublished}` },
    ],
    [
      'leads from an invalid value',
      { from: { port: 0 } },
      { code: 'validation-failed', errors: [{ pointer: '/port' }] },
    ],
    [
      'has a reserved key',
      { from: { parameters: JSON.parse('{"constructor":1}') as object } },
      { code: 'reserved-key', errors: [{ pointer: '/parameters/constructor' }] },
    ],
    ['has a number for a link', { from: { parameters: 5 } }, { code: 'op-not-allowed' }],
    [
      'has lost a secret',
      { from: { parameters: { password: null } }, to: { parameters: {} } },
      { code: 'patch-malformed', detail: `The event has lost a value. ${asPublished}` },
    ],
  ])('is refused if the event %s', (_what, other, refusal) => {
    const { next, event } = after((snapshot, context) =>
      patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value: 1 }], context),
    );
    expect(expectRefused(revert({ ...event, ...other } as AdminEvent), next)).toMatchObject(refusal);
  });
});

/** The error that a function throws. */
function thrownBy(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('No error was thrown');
}

describe('canRevert', () => {
  const ofType = (type: string): AdminEvent => ({ type, at: 0, resource: '/x' }) as unknown as AdminEvent;
  const types = Object.keys(eventTypes);
  const revertible = types.filter((type) => canRevert(ofType(type)));

  it('is true for changes by command that can be undone, and for no other event', () => {
    const kinds = ['filter', 'listener', 'monitor', 'server', 'service'];
    const updated = ['filter', 'interface', 'monitor', 'server', 'service'].map((kind) => `${kind}.updated`);
    const stepped = ['monitor.started', 'monitor.stopped', 'service.started', 'service.stopped'];
    const members = kinds.flatMap((kind) => [`${kind}.created`, `${kind}.deleted`]);
    expect(revertible.toSorted()).toEqual([...updated, ...stepped, ...members, 'user.created'].toSorted());
  });

  it.each([...types.filter((type) => !revertible.includes(type)), 'unheard-of', 'toString', '__proto__'])(
    'is false for %s, and revert throws a RangeError that lists the supported types',
    (type) => {
      expect(canRevert(ofType(type))).toBe(false);
      expect(() => revert(ofType(type))).toThrow(RangeError);
      const told = `An event of type "${type}" cannot be undone. These types can: `;
      const { message } = thrownBy(() => revert(ofType(type)));
      expect([message.slice(0, told.length), message.at(-1)]).toEqual([told, '.']);
      expect(message.slice(told.length, -1).split(', ').toSorted()).toEqual(revertible.toSorted());
    },
  );
});
