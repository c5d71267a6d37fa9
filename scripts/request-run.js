/**
 * Counts what one request runs: the functions of the built package, their calls and files. Nothing watches the interface:
 * there is no sink, hook, logger or reader.
 */
import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';

import { createMemoryStore, createSnapshot, openAdmin } from '../dist/index.js';

/** Counts the functions of the built package that one warm request runs. */
export async function requestRuns() {
  const admin = await openAdmin({
    snapshot: createSnapshot({
      servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
      services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'], max_connection: 1 }],
    }),
    store: createMemoryStore(),
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('not-in-place') },
    access: { authenticate: () => ({ name: 'ada' }), authorize: () => true },
  });
  let limit = 1;
  const patch = () => {
    const operations = [{ op: 'replace', path: '/max_connection', value: ++limit }];
    const headers = { 'content-type': 'application/json-patch+json' };
    return admin.handle({
      method: 'PATCH',
      target: '/services/Sales',
      headers,
      body: JSON.stringify(operations),
    });
  };
  const get = () => admin.handle({ method: 'GET', target: '/services/Sales', headers: {} });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const rows = {
    'PATCH of a service, with a memory store': await count(session, patch),
    'GET of a service': await count(session, get),
  };
  session.disconnect();
  await admin.close();
  return rows;
}

async function count(session, request) {
  for (let run = 0; run < 100; run++) await request();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const { response } = await request();
  // What a command does after its answer counts too.
  await setTimeout(50);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const ours = result.filter(({ url }) => url.includes('/dist/') && !url.includes('/node_modules/'));
  const counts = ours.flatMap(({ url, functions }) =>
    functions.flatMap(({ ranges: [{ count }] }) => (count > 0 ? [{ url, count }] : [])),
  );
  return {
    status: response.status,
    functions: counts.length,
    calls: counts.reduce((sum, { count }) => sum + count, 0),
    files: new Set(counts.map(({ url }) => url)).size,
    'of audit': counts.filter(({ url }) => url.includes('/runtime/audit/')).length,
    'of instrumentation': counts.filter(({ url }) => url.includes('/runtime/instrumentation/')).length,
  };
}
