/**
 * Transitions that tests run to change one setting, each to another value every time.
 */
import { patchServer, patchService, type Transition } from 'gateway-admin-core';

/** Sets the most connections of `My Service`. */
export function limit(value: number): Transition {
  return (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'add', path: '/max_connection', value }], context);
}

/** Sets the port of `db-serv-1`. */
export function port(value: number): Transition {
  return (snapshot, context) =>
    patchServer(snapshot, 'db-serv-1', [{ op: 'replace', path: '/port', value }], context);
}
