/**
 * The command that undoes an event.
 */
import type { Operation } from '../index.ts';
import type { ShownEvent } from './event-stream.ts';

/**
 * A command that undoes an event, for `client.run`: the endpoint `id` with the arguments `given`.
 *
 * @public
 */
export type Undo =
  | {
      readonly id: `${'services' | 'monitors'}.${'start' | 'stop'}`;
      readonly given: readonly [name: string];
    }
  | {
      /**
       * The patch back. It tests what the event set, so it is refused with `patch-test-failed` if somebody has changed the same
       * settings since.
       */
      readonly id: `${'services' | 'servers' | 'monitors' | 'filters'}.patch`;
      readonly given: readonly [name: string, operations: readonly Operation[]];
      /** Pointers of secrets, which stay as they are: their values are not shown. */
      readonly leftOut: readonly string[];
    };

/**
 * Gives the command that undoes an event.
 *
 * @param event - an event as the interface shows it
 * @returns the command; `undefined` if the event cannot be undone from outside: closed sessions, reports, users, and changes
 *   of nothing but secrets. In the process of the gateway, `revert` undoes more.
 *
 * @public
 */
export function undoOf(event: ShownEvent): Undo | undefined {
  if (typeof event !== 'object' || (event as ShownEvent | null) === null)
    throw new TypeError('event must be an object');
  switch (event.type) {
    case 'service.started':
      return { id: 'services.stop', given: [event.service] };
    case 'service.stopped':
      return { id: 'services.start', given: [event.service] };
    case 'monitor.started':
      return { id: 'monitors.stop', given: [event.monitor] };
    case 'monitor.stopped':
      return { id: 'monitors.start', given: [event.monitor] };
    case 'service.updated':
      return patchBack('services', event.service, event.inverse);
    case 'server.updated':
      return patchBack('servers', event.server, event.inverse);
    case 'monitor.updated':
      return patchBack('monitors', event.monitor, event.inverse);
    case 'filter.updated':
      return patchBack('filters', event.filter, event.inverse);
    default:
      return undefined;
  }
}

/** The patch back, without the operations on secrets, whose values are not shown. */
function patchBack(
  collection: 'services' | 'servers' | 'monitors' | 'filters',
  name: string,
  inverse: readonly Operation[],
): Undo | undefined {
  const isHidden = (operation: Operation): boolean =>
    (operation.op === 'add' || operation.op === 'replace' || operation.op === 'test') &&
    !('value' in operation);
  const leftOut = new Set(inverse.filter(isHidden).map(({ path }) => path));
  const operations = inverse.filter(({ path }) => !leftOut.has(path));
  if (operations.length === 0) return undefined;
  return { id: `${collection}.patch`, given: [name, operations], leftOut: [...leftOut] };
}
