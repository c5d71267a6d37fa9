import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createMemoryStore,
  EffectRefusedError,
  measurementTable,
  problemTable,
  routes,
  stopMonitor,
  stopService,
  type Measurement,
  type Transition,
} from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';
import { hold } from 'gateway-admin-core/testing';
import * as fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import { codesOf, tablesOf } from '../../docs/table.ts';
import { requests } from '../../support/arbitrary-request.ts';
import { credentials, quickHasher, snapshotOf } from '../../support/log-in.ts';
import { read } from '../../support/project.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);

/** The types of events and effects that the pages list. */
function documentedTypes(): readonly string[] {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  return pages.flatMap((name) => read(`docs/${name}`).match(/(?<=`)[a-z]+\.[a-zA-Z]+(?=`)/g) ?? []);
}

/** A hook that keeps the measurements. */
function takeMeasurements() {
  const all: Measurement[] = [];
  const of = (name: Measurement['name']): readonly unknown[] =>
    all.filter((each) => each.name === name).map(({ value, labels }) => ({ value, ...labels }));
  return { all, of, onMeasurement: (measurement: Measurement) => void all.push(measurement) };
}

describe('measurements', () => {
  it('have the durations of requests, commands, effects and calls of the store', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const held = hold();
    const { admin, clock } = await openRunning(createMemoryStore(), {
      observe: { onMeasurement },
      gateway: sampleGateway().will(held.apply),
    });
    const answer = admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers: {} });
    await held.begun;
    await clock.advance(250);
    held.done();
    await answer;
    await admin.handle({ method: 'OPTIONS', target: '/services', headers: {} });
    expect(await admin.handle({ method: 'GET', target: '/elsewhere', headers: {} })).toEqual({
      matched: false,
    });
    const path = 'gateway_admin_';
    expect(of(`${path}request_duration_seconds`)).toEqual([
      { value: 0.25, route: 'services.stop', method: 'PUT', status: '204' },
      { value: 0, route: 'none', method: 'OPTIONS', status: '204' },
    ]);
    expect(of(`${path}command_duration_seconds`)).toEqual([
      { value: 0.25, type: 'service.stopped', outcome: 'accepted' },
    ]);
    expect(of(`${path}effect_duration_seconds`)).toEqual([
      { value: 0.25, type: 'service.stop', outcome: 'applied' },
    ]);
    const calls = ['load', 'compact', 'append', 'append'];
    expect(of(`${path}store_duration_seconds`)).toEqual(
      calls.map((call) => ({ value: 0, call, outcome: 'done' })),
    );
    expect(of(`${path}store_bytes_total`)).toEqual([
      { value: expect.any(Number) },
      { value: expect.any(Number) },
    ]);
    await admin.close();
  });

  it('have the effects that the gateway refuses', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const gateway = sampleGateway().will(new EffectRefusedError('Not now.'));
    const { admin } = runAdmin({ observe: { onMeasurement }, gateway });
    await admin.execute(stop);
    expect(of('gateway_admin_effect_duration_seconds')).toEqual([
      { value: 0, type: 'service.stop', outcome: 'refused' },
    ]);
    await admin.close();
  });

  it('have a command of unknown outcome twice: when that is answered, and when the outcome is known', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const held = hold();
    const gateway = sampleGateway()
      .will(held.apply)
      .willSee(() => new Promise(() => undefined), 'in-place');
    const { admin, clock } = runAdmin({ observe: { onMeasurement }, gateway });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(20_050);
    await execution;
    await clock.settle();
    expect(of('gateway_admin_command_duration_seconds')).toEqual([
      { value: 20, type: 'service.stopped', outcome: 'unknown' },
      { value: 20.05, type: 'service.stopped', outcome: 'accepted' },
    ]);
    expect(of('gateway_admin_commands_unknown')).toEqual([{ value: 0 }, { value: 1 }, { value: 0 }]);
  });

  it('have the commands that wait and are in flight, and the readers of events', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const [first, second] = [hold(), hold()];
    const { admin } = runAdmin({
      observe: { onMeasurement },
      gateway: sampleGateway().will(first.apply, second.apply),
    });
    const executions = [admin.execute(stop), admin.execute(stopMain), admin.execute(stop)];
    await Promise.all([first.begun, second.begun]);
    expect(of('gateway_admin_commands_waiting').at(-1)).toEqual({ value: 1 });
    expect(of('gateway_admin_commands_in_flight').at(-1)).toEqual({ value: 2 });
    first.done();
    second.done();
    await Promise.all(executions);
    expect(of('gateway_admin_commands_waiting')).toEqual([{ value: 0 }, { value: 1 }, { value: 0 }]);
    expect(of('gateway_admin_commands_in_flight').at(-1)).toEqual({ value: 0 });
    const left = new AbortController();
    const { signal } = left;
    await admin.handle({ method: 'GET', target: '/events', headers: {}, signal });
    await admin.handle({ method: 'GET', target: '/events', headers: {}, signal });
    left.abort();
    expect(of('gateway_admin_event_readers').map((each) => (each as { value: number }).value)).toEqual([
      1, 2, 1, 0,
    ]);
    await admin.close();
  });

  it('have the log-ins by their outcome, and the errors by their source', async () => {
    const { of, onMeasurement } = takeMeasurements();
    const { admin } = runAdmin({
      observe: { onMeasurement },
      snapshot: await snapshotOf({ ada: 'engine' }),
      hasher: quickHasher,
      access: { authenticate: createBasicAuthentication() },
    });
    for (const password of ['engine', 'wrong']) {
      const headers = { authorization: credentials('ada', password) };
      await admin.handle({ method: 'GET', target: '/services', headers });
    }
    await admin.handle({ method: 'GET', target: '/services', headers: {} });
    admin.report({ type: 'nothing' } as never);
    expect(of('gateway_admin_logins_total')).toEqual([
      { value: 1, outcome: 'accepted' },
      { value: 1, outcome: 'refused' },
    ]);
    expect(of('gateway_admin_errors_total')).toEqual([{ value: 1, source: 'report' }]);
    await admin.close();
  });

  // Promise: bounded-labels
  it('have labels of fixed sets of values, whatever clients send', async () => {
    const words = {
      route: ['none', ...routes.map(({ id }) => id)],
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'],
      status: [
        'disconnected',
        '200',
        '204',
        '304',
        ...Object.values(problemTable).map((row) => String(row.status)),
      ],
      // The types of events and effects, of which the pages have every one.
      type: documentedTypes(),
      outcome: 'accepted refused unknown applied done failed throttled overloaded'.split(' '),
      call: ['load', 'append', 'compact'],
      source: ['apply', 'inspect', 'report', 'document', 'other'],
    };
    const sets = new Map(Object.entries(words).map(([label, values]) => [label, new Set<unknown>(values)]));
    const { all, onMeasurement } = takeMeasurements();
    const { admin } = runAdmin({ observe: { onMeasurement } });
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        await admin.handle(request);
      }),
      { numRuns: 300 },
    );
    expect(all.length).toBeGreaterThan(9);
    for (const { name, kind, value, labels } of all) {
      const row = measurementTable[name];
      expect([name, kind, Object.keys(labels)]).toEqual([name, row.kind, row.labels]);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(Object.entries(labels).filter(([label, word]) => sets.get(label)?.has(word) !== true)).toEqual(
        [],
      );
    }
    await admin.close();
  });
});

describe('prom-client', () => {
  it('has the figures of requests through the front door', async () => {
    const registry = new Registry();
    const classes = { counter: Counter, gauge: Gauge, histogram: Histogram };
    const metrics = new Map(
      Object.entries(measurementTable).map(([name, { kind, help, labels }]) => [
        name,
        new classes[kind]({ name, help, labelNames: labels, registers: [registry] }),
      ]),
    );
    const { admin } = runAdmin({
      observe: {
        onMeasurement({ name, labels, value }) {
          const metric = metrics.get(name);
          if (metric instanceof Counter) metric.inc(labels, value);
          else if (metric instanceof Gauge) metric.set(labels, value);
          else metric?.observe(labels, value);
        },
      },
    });
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    try {
      for (const name of ['my-service', 'nothing', 'elsewhere'])
        await fetch(`${origin}/services/${name}`).then((response) => response.text());
      await fetch(`${origin}/services/my-service/stop`, { method: 'PUT' });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await admin.close();
    }
    const text = await registry.metrics();
    const request = 'gateway_admin_request_duration_seconds_count';
    for (const line of [
      `${request}{route="services.get",method="GET",status="200"} 1`,
      `${request}{route="services.get",method="GET",status="404"} 2`,
      `${request}{route="services.stop",method="PUT",status="204"} 1`,
      'gateway_admin_command_duration_seconds_count{type="service.stopped",outcome="accepted"} 1',
      'gateway_admin_effect_duration_seconds_count{type="service.stop",outcome="applied"} 1',
      'gateway_admin_commands_in_flight 0',
    ])
      expect(text.split('\n')).toContain(line);
  });
});

describe('the table of the page', () => {
  it('has each measurement, with its kind and its labels', () => {
    const rows = tablesOf(read('docs/observability.md')).find(
      ({ heading }) => heading === 'What is measured',
    )?.rows;
    expect(rows?.map(([name = '', kind, labels = '']) => [codesOf(name)[0], kind, codesOf(labels)])).toEqual(
      Object.entries(measurementTable).map(([name, { kind, labels }]) => [name, kind, labels]),
    );
  });
});
