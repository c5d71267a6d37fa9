/**
 * What a host reports of sessions that clients open on the sample service.
 */

/** The report of one session. */
export function openedSession(id: number) {
  return {
    type: 'session.opened',
    id,
    state: 'ready',
    user: 'ada',
    address: '10.0.0.1',
    service: 'My Service',
    connected: 7,
  } as const;
}

/** The reports of so many sessions, with ids from 1000 on, each with a connection to the server if one is given. */
export function openedSessions(count: number, server?: string) {
  const connections = server === undefined ? [] : [{ id: 0, server, role: 'Slave', state: 'In use' }];
  return Array.from({ length: count }, (_, n) => ({ ...openedSession(1000 + n), connections }));
}
