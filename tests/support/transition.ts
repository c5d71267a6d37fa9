/**
 * Transitions that tests run on the sample document.
 */
import {
  closeServiceSessions,
  patchServer,
  patchService,
  startService,
  stopMonitor,
  stopService,
  type Transition,
} from 'gateway-admin-core';

export const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
export const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
export const startBare: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);
export const stopBare: Transition = (snapshot, context) => stopService(snapshot, 'Bare Service', context);
export const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
export const closeMine: Transition = (snapshot, context) =>
  closeServiceSessions(snapshot, 'My Service', context);
/** Is refused: there is no such service. */
export const missing: Transition = (snapshot, context) => stopService(snapshot, 'nothing', context);

/** Sets the most connections of `My Service`: to another value every time, or nothing changes. */
export function limit(value: number): Transition {
  return (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value }], context);
}

/** Sets the port of `db-serv-1`. */
export function port(value: number): Transition {
  return (snapshot, context) =>
    patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value }], context);
}

/** Stops `My Service` with an event of a host that cannot be read from some moment on. */
export function stopUnreadably(isBroken: () => boolean, error = new Error('planted')): Transition {
  return (snapshot, context) => {
    const decision = stop(snapshot, context);
    if (decision.outcome !== 'accepted') return decision;
    const get = (): string => {
      if (isBroken()) throw error;
      return 'ada';
    };
    const events = decision.events.map((event) =>
      Object.defineProperty({ ...event }, 'actor', { get, enumerable: true }),
    );
    return { ...decision, events };
  };
}
