import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  InvalidDocumentError,
  loadSnapshot,
  toDocument,
  type GatewayDocument,
} from 'gateway-admin-core';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const configuration: GatewayDocument = {
  servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [{ name: 'Sales', router: 'readconnroute' }],
};

const session = {
  state: 'Session ready for routing',
  user: 'bob',
  address: '10.0.0.9',
  service: '/services/Sales',
  connected: '2016-09-09T11:12:37+00:00',
  idle: 0,
};

function documentOf(sessions: number, connections: number): GatewayDocument {
  return {
    ...configuration,
    sessions: Array.from({ length: sessions }, (_, id) => ({
      id,
      ...session,
      connections: Array.from({ length: connections }, (_, at) => ({
        id: at,
        state: 'In use',
        role: 'Master',
        server: '/servers/db',
        statistics: { reads: id, writes: at, buffered_writes: 3, high_water_events: 2, low_water_events: 1 },
      })),
    })),
  };
}

function faultsOf(document: object): InvalidDocumentError['faults'] {
  try {
    createSnapshot(document);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    return error.faults;
  }
}

describe('a document with many sessions', () => {
  // Promise: large-document
  it('is read and written again, and takes some hundred bytes for each connection', () => {
    const [sessions, connections] = [1000, 8];
    const document = documentOf(sessions, connections);
    createSnapshot(documentOf(10, 1)); // what is made once does not count
    const before = heapUsed();
    const snapshot = createSnapshot(document);
    const each = (heapUsed() - before) / sessions / connections;
    expect(each).toBeLessThan(300);
    expect(toDocument(snapshot).sessions).toEqual(document.sessions);
  });

  it('is read one session after the other, up to the first one that is no JSON', () => {
    const sessions = documentOf(3, 1).sessions ?? [];
    const list = [...sessions, { ...session, id: 0 }, new Date(0), { id: 'never read' }];
    expect(faultsOf({ ...configuration, sessions: list }).map(({ pointer }) => pointer)).toEqual([
      '/sessions/3/id',
      '/sessions/4',
    ]);
  });

  const many = 130_000;
  const tooMany: readonly (readonly [string, object, string])[] = [
    [
      'a session with many connections',
      { sessions: [{ id: 1, ...session, connections: Array.from({ length: many }, () => null) }] },
      '/sessions/0/connections/',
    ],
    ['many tasks', { tasks: Array.from({ length: many }, () => 5) }, '/tasks/'],
  ];

  it.each(tooMany)('is refused with every fault: %s', (_what, document, place) => {
    const faults = faultsOf({ ...configuration, ...document });
    expect(faults).toHaveLength(many);
    expect(faults.at(-1)?.pointer).toBe(`${place}${String(many - 1)}`);
  });

  it('is loaded in pieces, with the same result', async () => {
    const document = documentOf(3000, 8);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const snapshot = await loadSnapshot(document, { epoch: 'a' });
    clearInterval(timer);
    // The reading takes some fifty milliseconds.
    expect(turns).toBeGreaterThan(2);
    expect(toDocument(snapshot)).toEqual(toDocument(createSnapshot(document, { epoch: 'a' })));
    expect(snapshot.epoch).toBe('a');
  });

  it('is loaded in pieces until the first fault, or until a signal aborts', async () => {
    await expect(loadSnapshot({ ...configuration, sessions: [{}] as never })).rejects.toThrow(
      InvalidDocumentError,
    );
    const stop = new AbortController();
    const loading = loadSnapshot(documentOf(3000, 8), { signal: stop.signal });
    stop.abort(new Error('Enough'));
    await expect(loading).rejects.toThrow('Enough');
  });
});
