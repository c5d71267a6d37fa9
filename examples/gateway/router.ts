/** The router `readconnroute`: a session gets one connection, to the server with the fewest connections. */
import { linkTo, type Server, type Service, type Snapshot } from 'gateway-admin-core';

/** The server for the next session of a service; `undefined` if no server is available. */
export function chooseServer(snapshot: Snapshot, { settings }: Service): Server | undefined {
  return serversAt(snapshot, settings.servers)
    .filter(
      ({ settings: { state, drain }, seen }) =>
        seen.status.includes('running') && !state.includes('maintenance') && drain === undefined,
    )
    .map((server) => {
      const weight = weightOf(server, settings.weightby);
      return { server, weight, load: (snapshot.sessions.countOfServer(server.key) + 1) / weight };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => a.load - b.load)[0]?.server;
}

/** Why no server of a service is available, for its clients and the console. */
export function describeServers(snapshot: Snapshot, { settings }: Service): string {
  const servers = serversAt(snapshot, settings.servers).map((server) => {
    const { name, settings: own, seen } = server;
    if (own.state.includes('maintenance')) return `${name} is in maintenance`;
    if (!seen.status.includes('running')) return `${name} is not running`;
    if (own.drain !== undefined) return `${name} drains`;
    return `${name} has the weight ${String(weightOf(server, settings.weightby))}`;
  });
  return servers.length === 0 ? 'the service has no servers' : servers.join(', ');
}

/** A server with twice the weight gets twice the sessions, one with weight 0 gets none. */
function weightOf({ settings: { parameters } }: Server, weightby: string | undefined): number {
  const weight = Number(weightby === undefined ? 1 : parameters[weightby]);
  return Number.isNaN(weight) ? 1 : weight;
}

/** The servers that links name. */
export function serversAt(snapshot: Snapshot, links: readonly string[]): readonly Server[] {
  return [...snapshot.servers].filter(({ name }) => links.includes(linkTo('servers', name)));
}
