/**
 * What a route sees besides the snapshot, without an interface that runs.
 */
import { createVirtualClock } from 'gateway-admin-core/testing';

import { sampleSnapshot, sampleZone } from './document.ts';
import { createHistory, createTimeFormat, JournalState, type BoundResourceRoute } from './internal.ts';

/** What a route sees besides the snapshot. */
type Surroundings = Parameters<Extract<BoundResourceRoute, { readonly kind: 'item' }>['read']>[2];

/**
 * The surroundings of an interface without a store and without a log-in, in which no command is in flight. Nothing is
 * abandoned or forgotten, except in name.
 */
export const surroundings: Surroundings = {
  times: createTimeFormat(sampleZone),
  now: () => Date.parse('2016-09-10T00:00:00Z'),
  self: {
    state: () => ({
      ...{ ready: true, unknown_outcomes: 0, time_zone: sampleZone, version: '1.2.3' },
      links: { services: '/services' },
    }),
    begun: 0,
    outages: () => ({}),
    deadlineFailures: () => [],
    watchedSince: () => undefined,
    lags: () => [],
  },
  commands: { list: () => [], abandon: () => Promise.resolve(undefined), behind: () => [] },
  history: createHistory({
    entries: new JournalState(sampleSnapshot()).entries,
    configuration: sampleSnapshot,
    snapshot: sampleSnapshot,
    refuse: () => undefined,
    clock: createVirtualClock(0),
    readOn: undefined,
  }),
  fleet: {
    nodes: () => [],
    clocks: () => [],
    hintFailure: () => undefined,
    announcementFailure: () => undefined,
    retry: () => undefined,
    standingOf: () => undefined,
    forget: () => Promise.resolve(undefined),
  },
};
