import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { GatewayDocument } from 'gateway-admin-core';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { openEchoServer, type EchoServer } from './echo-server.ts';
import { endGateways, startOn, type RunningGateway } from './running-gateway.ts';
import { isOpen, startSession } from './socket-client.ts';

const directory = temporaryDirectories();

let backend: EchoServer;
/** Has the port of the service while it is open. */
let occupant: EchoServer;

beforeAll(async () => {
  buildExamples();
  [backend, occupant] = await Promise.all([openEchoServer('backend'), openEchoServer('occupant')]);
});

afterEach(endGateways);

afterAll(() => Promise.all([backend.close(), occupant.close()]));

async function occupy(isTaken: boolean): Promise<void> {
  await occupant.close();
  if (isTaken) occupant = await openEchoServer('occupant', occupant.port);
}

function documentOf(): GatewayDocument {
  const place = { address: '127.0.0.1', protocol: 'postgresql' };
  return {
    servers: [{ name: 'one', ...place, port: backend.port, status: ['running'] }],
    services: [
      {
        ...{ name: 'S', router: 'readconnroute', servers: ['/servers/one'] },
        listeners: [{ name: 'Clients', ...place, port: occupant.port }],
      },
    ],
  };
}

/** Sends a command and kills the gateway: some milliseconds after the command, or after the answer. */
async function sendAndKill(
  gateway: RunningGateway,
  command: 'start' | 'stop',
  point: number | 'answer',
): Promise<number | undefined> {
  const answering = gateway.ask('PUT', `/service/S/${command}`).then(
    ({ status }) => status,
    () => undefined,
  );
  await (point === 'answer' ? answering : sleep(point));
  await gateway.kill();
  return answering;
}

/** What clients find at the port of the service. */
async function found(): Promise<string> {
  if (!(await isOpen(occupant.port))) return 'nobody';
  const client = await startSession(occupant.port);
  const [name = ''] = (await client.ask('hello')).split(' ');
  client.close();
  return name;
}

type Wanted = 'started' | 'stopped';

/** What the gateway shows of a service, and what clients find. */
function truth(wanted: Wanted, isTaken: boolean): object {
  if (wanted === 'stopped') return { state: 'stopped', at: isTaken ? 'occupant' : 'nobody' };
  if (!isTaken) return { state: 'started', at: 'backend' };
  const reason = expect.stringContaining('address already in use');
  return { state: 'failed', state_reason: reason, state_since: expect.any(String), at: 'occupant' };
}

/** Starts the gateway, and expects that it shows what it has. Gives what is wanted of the service. */
async function startTruly(store: string, isTaken: boolean, possible: readonly Wanted[]) {
  await occupy(isTaken);
  const gateway = await startOn(documentOf(), ['--store', store]);
  const shown = await gateway.get('/services/S?fields=state,state_reason,state_since');
  const wanted = (shown as { readonly state: string }).state === 'stopped' ? 'stopped' : 'started';
  expect({ ...(shown as object), at: await found() }).toEqual(truth(wanted, isTaken));
  expect(possible).toContain(wanted);
  return { gateway, wanted } as const;
}

/** What can be wanted after a command, given its answer. A start that was refused, or never done, changes nothing. */
function possibleAfter(
  { command, isTakenThen }: Round,
  status: number | undefined,
  before: Wanted,
): readonly Wanted[] {
  const after = command === 'start' ? 'started' : 'stopped';
  if (command === 'start' && isTakenThen) {
    expect([undefined, 409]).toContain(status);
    return [before];
  }
  expect([undefined, 204]).toContain(status);
  return status === undefined ? [before, after] : [after];
}

interface Round {
  /** Whether the port is taken when the gateway starts. */
  readonly isTaken: boolean;
  /** What is done then, and whether the port is taken meanwhile. */
  readonly command: 'start' | 'stop';
  readonly isTakenThen: boolean;
  /** When the gateway is killed. */
  readonly point: number | 'answer';
}

/** Starts of a failed service and of a stopped one, while the port is taken and while it is free. */
const rounds: readonly Round[] = [
  { isTaken: true, command: 'start', isTakenThen: true, point: 3 },
  { isTaken: true, command: 'start', isTakenThen: true, point: 'answer' },
  { isTaken: true, command: 'start', isTakenThen: false, point: 'answer' },
  { isTaken: false, command: 'stop', isTakenThen: false, point: 'answer' },
  { isTaken: true, command: 'start', isTakenThen: true, point: 6 },
  { isTaken: false, command: 'start', isTakenThen: false, point: 9 },
  { isTaken: true, command: 'start', isTakenThen: false, point: 'answer' },
];

// Promise: killed-start
it('shows what it has after each kill during a start, and loses no start that it has acknowledged', async () => {
  const store = await directory();
  let possible: readonly Wanted[] = ['started'];
  for (const round of rounds) {
    const { gateway, wanted } = await startTruly(store, round.isTaken, possible);
    if (round.isTaken !== round.isTakenThen) await occupy(round.isTakenThen);
    const status = await sendAndKill(gateway, round.command, round.point);
    possible = possibleAfter(round, status, wanted);
    if (round.point === 'answer') expect(status).toBeDefined();
  }
  await startTruly(store, true, possible);
});
