/**
 * The command that undoes an event.
 */
import { endpoints } from '../http/endpoint.ts';
import type { Operation } from '../index.ts';
import type { ShownEvent } from './event-stream.ts';

/** An event of a start or a stop. @internal */
type Lived = Extract<ShownEvent, { readonly type: `${string}.${'started' | 'stopped'}` }>;

/** An event of changed settings. @internal */
type Updated = Extract<ShownEvent, { readonly inverse: readonly Operation[] }>;

/** The words for the resources of events: the first words of the types. @internal */
type KindOf<E extends ShownEvent> = E['type'] extends `${infer Kind}.${string}` ? Kind : never;

/**
 * A command that undoes an event, for `client.run`: the endpoint `id` with the arguments `given`.
 *
 * @public
 */
export type Undo =
  | {
      readonly id: `${KindOf<Lived>}s.${'start' | 'stop'}`;
      readonly given: readonly [name: string];
    }
  | {
      /**
       * The patch back. It tests what the event set, so it is refused with `patch-test-failed` if somebody has changed the same
       * settings since.
       */
      readonly id: `${KindOf<Updated>}s.patch`;
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
  // The event `service.stopped` has the key of the service as `service`, and `services.start` undoes it.
  const [, kind = '', happened = ''] = /^(\w+)\.(\w+)$/.exec(event.type) ?? [];
  const name = (event as unknown as Readonly<Record<string, string>>)[kind] ?? '';
  const verb = opposites.get(happened);
  const id = `${kind}s.${verb ?? 'patch'}`;
  // A later version of the interface may have events and endpoints that this client does not know.
  if (!(id in endpoints)) return undefined;
  if (verb !== undefined) return { id: id as `${KindOf<Lived>}s.${typeof verb}`, given: [name] };
  return 'inverse' in event ? patchBack(id as `${KindOf<Updated>}s.patch`, name, event.inverse) : undefined;
}

const opposites: ReadonlyMap<string, 'start' | 'stop'> = new Map([
  ['started', 'stop'],
  ['stopped', 'start'],
]);

/** The patch back, without the operations on secrets, whose values are not shown. */
function patchBack(
  id: `${KindOf<Updated>}s.patch`,
  name: string,
  inverse: readonly Operation[],
): Undo | undefined {
  const isHidden = (operation: Operation): boolean =>
    (operation.op === 'add' || operation.op === 'replace' || operation.op === 'test') &&
    !('value' in operation);
  const leftOut = new Set(inverse.filter(isHidden).map(({ path }) => path));
  const operations = inverse.filter(({ path }) => !leftOut.has(path));
  if (operations.length === 0) return undefined;
  return { id, given: [name, operations], leftOut: [...leftOut] };
}
