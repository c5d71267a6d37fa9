import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createListener,
  createResource,
  createSnapshot,
  deleteListener,
  evolve,
  revert,
  toDocument,
  type Decision,
  type GatewayDocument,
  type Listener,
  type Problem,
  type Snapshot,
} from 'gateway-admin-core';

import { configuration } from '../support/configuration.ts';
import { differencesOf } from '../support/document-difference.ts';
import { expectAccepted, expectRefused, expectUnchanged, someTime } from '../support/expect-decision.ts';

const first: Listener = { name: 'First', protocol: 'pg', address: '::', port: 5433 };
const second: Listener = { name: 'Second One', protocol: 'pg', address: '::', port: 5434 };
const document: GatewayDocument = {
  services: [
    { name: 'Sales', router: 'cli', listeners: [first] },
    { name: 'Off', router: 'cli', state: 'stopped' },
  ],
};
const snapshot = createSnapshot(document);

const creating =
  (service: string, definition: unknown) =>
  (from: Snapshot): Decision =>
    createListener(from, service, definition as Listener, someTime);
const deleting =
  (service: string, name: string) =>
  (from: Snapshot): Decision =>
    deleteListener(from, service, name, someTime);
const faultsOf = ({ errors = [] }: Problem): readonly string[] =>
  errors.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);

describe('a listener of a service', () => {
  // Promise: listener-inverse
  it('comes and goes, and each is the undo of the other', () => {
    const { next, events, effects, resources } = expectAccepted(creating('sales', second), snapshot);
    expect(effects).toEqual([
      {
        type: 'listener.create',
        resource: '/services/Sales/listeners/Second-One',
        ...{ service: 'sales', listener: 'second-one', definition: second },
      },
    ]);
    expect(resources).toEqual(['/services/Sales', '/services/Sales/listeners/Second-One']);
    expect(next.services.find('sales')?.listeners).toEqual([first, second]);
    expect(configuration(createSnapshot(toDocument(next)))).toEqual(configuration(next));
    const { next: gone, events: deletion } = expectAccepted(deleting('SALES', 'second one'), next);
    expect(configuration(gone)).toEqual(configuration(snapshot));
    expect(toDocument(evolve(snapshot, events))).toEqual(toDocument(next));
    const [created] = events;
    const [deleted] = deletion;
    if (created === undefined || deleted === undefined) throw new Error('There is no event');
    expect(configuration(revert(created)(next, someTime).next)).toEqual(configuration(snapshot));
    expect(configuration(revert(deleted)(gone, someTime).next)).toEqual(configuration(next));
    expect(revert(created)(gone, someTime).outcome).toBe('unchanged');
  });

  it('is unchanged if an equal one is there, and refused if another one is', () => {
    expectUnchanged(creating('Sales', first), snapshot);
    expect(expectRefused(creating('Sales', { ...first, port: 1 }), snapshot)).toMatchObject({
      code: 'resource-exists',
      detail:
        'The service "Sales" has a listener named "First" already, and it differs from the given one. Choose another name, or ' +
        'delete the listener first: DELETE /services/Sales/listeners/First.',
    });
    expect(expectAccepted(creating('Off', first), snapshot).effects).toHaveLength(1);
  });

  it('is refused with every fault of its definition', () => {
    const wrong = { name: 'x', address: '::', port: 0, parametersSealed: { pin: 'sealed' } };
    expect(faultsOf(expectRefused(creating('Sales', { ...wrong, protocol: 5 }), snapshot))).toEqual([
      '/protocol validation-failed: must be a string, not a number',
      '/port validation-failed: must be at least 1',
      expect.stringMatching(
        /^\/parametersSealed\/pin validation-failed: is sealed, and is not declared secret here/,
      ),
    ]);
    const reserved: unknown = JSON.parse(
      '{ "name": "x", "protocol": "pg", "address": "::", "port": 1, "__proto__": 1 }',
    );
    expect(faultsOf(expectRefused(creating('Sales', reserved), snapshot))).toEqual([
      '/__proto__ reserved-key: is not allowed as a key',
    ]);
    expect(
      faultsOf(expectRefused(creating('Sales', { ...wrong, protocol: 'pg', port: 1 }), snapshot)),
    ).toEqual([
      '/parametersSealed/pin validation-failed: is sealed, and is not declared secret here; start the interface with this name in secretParameters',
    ]);
    const secret = createSnapshot(document, { secretParameters: ['pin'] });
    const plain = { ...second, parameters: { pin: 'x' } };
    expect(faultsOf(expectRefused(creating('Sales', plain), secret))).toEqual([
      '/parameters/pin validation-failed: is secret, and must not be plain text: put the output of gateway-admin seal into parametersSealed',
    ]);
  });

  it('is not found under another name, or at another service', () => {
    expect(expectRefused(creating('Nowhere', first), snapshot).code).toBe('service-not-found');
    expect(expectRefused(deleting('Off', 'First'), snapshot)).toMatchObject({
      code: 'listener-not-found',
      detail: 'The service "Off" has no listener named "First". GET /services/Off/listeners lists them.',
    });
    expect(() => deleteListener(snapshot, 'Sales', 5 as never, someTime)).toThrow(TypeError);
  });

  // Promise: adopt-listeners
  it('is taken over from a document: what differs goes before what comes', () => {
    const moved = { ...first, port: 6000 };
    const given = createSnapshot({
      services: [
        { name: 'Sales', router: 'cli', listeners: [second, moved] },
        { name: 'Off', router: 'cli', state: 'started', listeners: [first] },
      ],
    });
    const decision = expectAccepted((from, context) => adoptDocument(from, given, context), snapshot);
    expect(decision.effects.map(({ type, resource }) => `${type} ${resource}`)).toEqual([
      'listener.delete /services/Sales/listeners/First',
      'listener.create /services/Sales/listeners/Second-One',
      'listener.create /services/Sales/listeners/First',
      'listener.create /services/Off/listeners/First',
      'service.start /services/Off',
    ]);
    expect(configuration(decision.next)).toEqual(configuration(given));
  });

  it('comes last when its deletion is undone, and its service is as it was created all the same', async () => {
    const definition = { name: 'New', router: 'cli', state: 'stopped', listeners: [first, second] } as const;
    const created = expectAccepted(
      (from) => createResource(from, 'services', definition, someTime),
      snapshot,
    );
    const deleted = expectAccepted(deleting('New', 'First'), created.next);
    const [creation, deletion] = [...created.events, ...deleted.events];
    if (creation === undefined || deletion === undefined) throw new Error('There is no event');
    const { next } = revert(deletion)(deleted.next, someTime);
    expect(next.services.find('new')?.listeners).toEqual([second, first]);
    expect(expectAccepted(revert(creation), next).next.services.find('new')).toBeUndefined();
    expectUnchanged((from) => createResource(from, 'services', definition, someTime), next);
    const pointersTo = async (...listeners: readonly Listener[]): Promise<readonly string[]> => {
      const given = createSnapshot({
        services: [...(document.services ?? []), { ...definition, state: 'stopped', listeners }],
      });
      return (await differencesOf(next, given)).map(({ pointer }) => pointer);
    };
    expect(await pointersTo(first, second)).toEqual([]);
    expect(await pointersTo(first, { ...second, port: 6000 })).toEqual(['/services/2/listeners/1/port']);
  });
});
