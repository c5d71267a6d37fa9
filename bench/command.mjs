/**
 * Commands, readers of events, and the import of the package.
 */
import { execFileSync } from 'node:child_process';
import { EventEmitter, on } from 'node:events';
import { fileURLToPath } from 'node:url';

import { createAdmin, createSnapshot, startService, stopService } from 'gateway-admin-core';

import { measure, ratios } from './harness.mjs';
import { gateway, serviceNames } from './sessions.mjs';

export const rows = {
  S10: { title: 'Commands that wait on one resource, one of 10,000 against one of 100', run: queue },
  C1: { title: 'A command without a store, beyond its decision', run: commands },
  C2: { title: 'One event read at once by 1,000 readers with a signal each', run: readers },
  C3: { title: 'Import of the main entry, against the import of zod/mini', run: imports },
};

const target = serviceNames[50];

function open() {
  const services = serviceNames.map((name) => ({ name, router: 'readconnroute' }));
  return createAdmin({ snapshot: createSnapshot({ services }), gateway });
}

async function commands(row) {
  const admin = open();
  const started = admin.snapshot;
  const stopped = stopService(started, target, { now: 0 }).next;
  const stop = (snapshot, context) => stopService(snapshot, target, context);
  const start = (snapshot, context) => startService(snapshot, target, context);
  const context = { now: 1_700_000_000_000 };
  const times = await measure({
    command: async () => {
      await admin.execute(stop);
      await admin.execute(start);
    },
    decision: () => [stop(started, context).next, start(stopped, context).next],
  });
  const beyond = ratios(times, 'command', 'decision').map((ratio) => ratio - 1);
  row.atMost('its own decision', 6, beyond);
  row.report(
    'beyond the decision',
    times.command.map((time, n) => (time - times.decision[n]) / 2),
    'µs',
  );
  await admin.close();
}

async function queue(row) {
  const admin = createAdmin({
    snapshot: createSnapshot({ services: [{ name: target, router: 'readconnroute' }] }),
    gateway,
    limits: { maxQueued: 20_000 },
  });
  const changes = [stopService, startService].map(
    (change) => (snapshot, context) => change(snapshot, target, context),
  );
  const all = (count) => Promise.all(Array.from({ length: count }, (_, n) => admin.execute(changes[n % 2])));
  const times = await measure(
    {
      few: async () => {
        for (let time = 0; time < 100; time += 1) await all(100);
      },
      many: () => all(10_000),
    },
    { count: 1, warmRounds: 5 },
  );
  row.atMost('each', 1.5, ratios(times, 'many', 'few'));
  row.report(
    'each of 10,000',
    times.many.map((us) => us / 10_000),
    'µs',
  );
  await admin.close();
}

async function readers(row) {
  const admin = open();
  const count = 1000;
  const ends = Array.from({ length: count }, () => new AbortController());
  let left = 0;
  let arrived = () => undefined;
  const read = () => {
    left -= 1;
    if (left === 0) arrived();
  };
  const all = (send) =>
    new Promise((resolve) => {
      left = count;
      arrived = resolve;
      send();
    });
  const following = ends.map(async ({ signal }) => {
    for await (const item of admin.events({ signal })) read(item);
  });
  const emitter = new EventEmitter().setMaxListeners(count);
  for (let reader = 0; reader < count; reader += 1) emitter.on('event', read);
  const source = new EventEmitter().setMaxListeners(count);
  for (const { signal } of ends) following.push(followWith(source, signal, read));
  let failed = false;
  const times = await measure({
    ours: () =>
      all(() => {
        failed = !failed;
        admin.report({ type: 'service.reported', service: target, state: failed ? 'failed' : 'started' });
      }),
    emitter: () => all(() => emitter.emit('event', { id: '1', event: {} })),
    on: () => all(() => source.emit('event', { id: '1', event: {} })),
  });
  row.atMost('1,000 readers of `events.on`', 0.4, ratios(times, 'ours', 'on'));
  row.report('1,000 listeners of an EventEmitter', ratios(times, 'ours', 'emitter'));
  row.report('one event for all readers', times.ours, 'µs');
  for (const end of ends) end.abort();
  await Promise.all(following);
  await admin.close();
}

/** Reads the events of an emitter as `events.on` gives them, until the signal aborts. */
async function followWith(source, signal, read) {
  try {
    for await (const [item] of on(source, 'event', { signal })) read(item);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function imports(row) {
  const rounds = 7;
  const samples = [];
  for (let round = 0; round <= rounds; round += 1) {
    const nothing = importMs('node:fs');
    const [own, peer] =
      round % 2 === 0
        ? [importMs('gateway-admin-core'), importMs('zod/mini')]
        : [importMs('zod/mini'), importMs('gateway-admin-core')].toReversed();
    // The first round fills the cache of the files.
    if (round > 0) samples.push((own - nothing) / (peer - nothing));
  }
  row.atMost('zod/mini', 1.2, samples);
}

/** The CPU time of a new process that imports a package. */
function importMs(name) {
  const program = `await import('${name}'); const { user, system } = process.cpuUsage(); console.log(user + system);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  });
  return Number(output) / 1000;
}
