/**
 * Transitions: a decision about one of many resources, against the libraries that people use for state.
 */
import { applyReports, createSnapshot, stopService } from 'gateway-admin-core';

import { measure, ratios } from './harness.mjs';
import * as peers from './peers/index.mjs';
import { serverNames, serviceNames } from './sessions.mjs';

export const rows = {
  T1: {
    title: 'Stop one of 100 services: the decision with event and effect, frozen, folded',
    run: stopOneService,
  },
  T2: { title: 'Status report for one of 1,000 servers, validated, with its event', run: reportOneServer },
};

const target = serviceNames[50];
const now = 1_700_000_000_000;
const settings = {
  servers: ['/servers/server-1', '/servers/server-2'],
  router_options: { router_options: 'master' },
  filters: [],
  user: 'service_user',
  max_connection: 100,
};

async function stopOneService(row) {
  const snapshot = createSnapshot({
    servers: serverNames.slice(0, 10).map(serverNamed),
    services: serviceNames.map((name) => ({ name, router: 'readconnroute', ...settings })),
  });
  const times = await measure({
    ours: () => stopService(snapshot, target, { now, actor: 'ada' }).next,
    ...(await sliceThatStops()),
    ...(await machineThatStops()),
  });
  for (const [name, title, least] of [
    ['toolkit', 'a slice of Redux Toolkit takes', 8],
    ['xstate', '`transition` of XState takes', 10],
  ]) {
    if (times[name] === undefined) row.note(`${title.split(' takes')[0]}: not installed`);
    else row.atLeast(title, least, ratios(times, name, 'ours'));
  }
}

function serverNamed(name) {
  return { name, address: '10.0.0.1', port: 5432, protocol: 'pg' };
}

/** The services of both peers, by name. */
function servicesByName() {
  return Object.fromEntries(
    serviceNames.map((name) => [name, { name, router: 'readconnroute', state: 'started', settings }]),
  );
}

/** The event and the effect of a stop, as ours. */
function changeOf(name) {
  const stop = {
    resource: `/services/${name}`,
    service: name,
    from: { state: 'started' },
    to: { state: 'stopped' },
  };
  return {
    event: { type: 'service.stopped', at: now, actor: 'ada', ...stop },
    effect: { type: 'service.stop', ...stop },
  };
}

/** The reducer refuses an unknown name and notes the event and the effect, which the listener would carry out. */
async function sliceThatStops() {
  const { createSlice } = (await peers.toolkit()) ?? {};
  if (createSlice === undefined) return {};
  const slice = createSlice({
    name: 'gateway',
    initialState: { revision: 0, services: servicesByName(), events: [], effects: [] },
    reducers: {
      stop(state, { payload: name }) {
        const service = state.services[name];
        if (service === undefined || service.state === 'stopped') return;
        const { event, effect } = changeOf(name);
        service.state = 'stopped';
        state.revision += 1;
        state.events = [event];
        state.effects = [effect];
      },
    },
  });
  const state = slice.getInitialState();
  return { toolkit: () => slice.reducer(state, slice.actions.stop(target)) };
}

/** One machine with the services in its context; the event and the effect are actions, which `transition` gives. */
async function machineThatStops() {
  const { createMachine, assign, transition, initialTransition } = (await peers.xstate()) ?? {};
  if (createMachine === undefined) return {};
  const machine = createMachine({
    context: { revision: 0, services: servicesByName() },
    on: {
      stop: {
        guard: ({ context, event }) => context.services[event.name]?.state === 'started',
        actions: [
          assign(({ context, event }) => ({
            revision: context.revision + 1,
            services: {
              ...context.services,
              [event.name]: { ...context.services[event.name], state: 'stopped' },
            },
          })),
          { type: 'publish', params: ({ event }) => changeOf(event.name).event },
          { type: 'carryOut', params: ({ event }) => changeOf(event.name).effect },
        ],
      },
    },
  }).provide({ actions: { publish: () => undefined, carryOut: () => undefined } });
  const [state] = initialTransition(machine);
  return { xstate: () => transition(machine, state, { type: 'stop', name: target }) };
}

async function reportOneServer(row) {
  const { createSlice } = (await peers.toolkit()) ?? {};
  if (createSlice === undefined) return row.note('Redux Toolkit is not installed');
  const snapshot = createSnapshot({ servers: serverNames.map(serverNamed) });
  const name = serverNames[500];
  const report = { type: 'server.reported', server: name, status: ['master', 'running'] };
  const slice = createSlice({
    name: 'gateway',
    initialState: {
      revision: 0,
      servers: Object.fromEntries(serverNames.map((each) => [each, { ...serverNamed(each), status: [] }])),
      events: [],
    },
    reducers: {
      reported(state, { payload: { server, status } }) {
        state.servers[server].status = status;
        state.revision += 1;
        state.events = [{ type: 'server.reported', at: now, resource: `/servers/${server}`, server, status }];
      },
    },
  });
  const state = slice.getInitialState();
  const times = await measure({
    ours: () => applyReports(snapshot, report, { now }),
    toolkit: () =>
      slice.reducer(state, slice.actions.reported({ server: name, status: ['master', 'running'] })),
  });
  return row.report('a slice of Redux Toolkit takes', ratios(times, 'toolkit', 'ours'));
}
