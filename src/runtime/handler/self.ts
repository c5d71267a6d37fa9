/**
 * Self: the running interface as `GET /` shows it.
 */
import { routes } from '../../resources/index.ts';
import type { InterfaceRepresentation, RunningInterface } from '../../resources/interface.ts';
import { guardBehind } from '../host/guard.ts';
import { causeText, HostError } from '../host/host-error.ts';
import type { Outage } from '../host/outbox.ts';
import type { Journal } from '../journal/journal.ts';
import type { Parts } from '../running.ts';
import { libraryVersion } from '../version.ts';

/** Creates what the endpoints of the interface itself need. @internal */
export function createSelf(parts: Parts): RunningInterface {
  const { writer, journal, audit, drains, watched, clock, place, timeZone, refuseAll, gateway, onError } =
    parts;
  return Object.freeze({
    state: () => ({
      ...place,
      ready: writer.refuseClosed() === undefined && journal.outage === undefined && refuseAll() === undefined,
      ...(journal.hasStore ? { store: storeState(journal) } : {}),
      unknown_outcomes: writer.commands().filter(({ outcome }) => outcome === 'unknown').length,
      time_zone: timeZone,
      version: libraryVersion,
      links,
    }),
    begun: clock.now(),
    outages: () => ({ ...outageOf('store', journal), ...outageOf('audit', audit) }),
    deadlineFailures: drains.failuresOf,
    watchedSince: watched.since,
    lags: guardBehind(gateway, onError),
  });
}

function outageOf(
  port: 'store' | 'audit',
  { outage }: { readonly outage: Outage | undefined },
): ReturnType<RunningInterface['outages']> {
  return outage === undefined ? {} : { [port]: { since: outage.since, reason: reasonOf(outage) } };
}

/** The words of the port itself, if the library has wrapped its error. */
function reasonOf({ error }: Outage): string {
  return causeText(error instanceof HostError && error.cause !== undefined ? error.cause : error);
}

function storeState({ outage }: Journal): NonNullable<InterfaceRepresentation['store']> {
  if (outage === undefined) return 'ok';
  return outage.retryAfterMs === undefined ? 'lost' : 'retrying';
}

/** The links of everything that is read without a name or an id, by their last words. */
const links: InterfaceRepresentation['links'] = Object.freeze(
  Object.fromEntries(
    routes
      .filter(
        ({ kind, path }) => kind !== 'command' && kind !== 'probe' && path !== '/' && !path.includes(':'),
      )
      .map(({ path }) => [path.slice(path.lastIndexOf('/') + 1), path]),
  ),
);
