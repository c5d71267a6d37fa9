/**
 * A part that fails for ever while everything else works: the rest settles, nothing of the rest is held, and the alerts
 * say what is wrong.
 */
import { nameKey, type Admin, type CommandInFlight, type Effect, type Snapshot } from 'gateway-admin-core';
import type { ApplyWay, InspectWay, Random, ScriptedGateway } from 'gateway-admin-core/testing';

import { limits } from './bound.ts';

/** A gateway that never answers for one service, a store, an audit sink, or a clock that stands. */
export const parts = ['gateway', 'store', 'audit', 'clock'] as const;

/** What fails for ever; also a node of a fleet, or the host that is to say that it has reported what is open. */
export type Part = (typeof parts)[number] | 'node' | 'reports';

/** The service for which a broken gateway never answers. */
export const unanswered = '/services/sales';

/** Whether a text begins with a link, or with that of a part of the same thing. */
function isAbout(text: string, link: string): boolean {
  return text.startsWith(link) && !/^[\w-]/.test(text.slice(link.length));
}

/** From now on, the gateway never answers for one service. What it is asked for is done, or is not. */
export function silence(gateway: ScriptedGateway, random: Random): void {
  const isDone = random.chance(0.5);
  const never = (): Promise<never> => new Promise(() => undefined);
  const apply: ApplyWay = ({ resource }: Effect, _context, perform) => {
    const isSilent = isAbout(nameKey(resource), unanswered);
    if (!isSilent || isDone) perform();
    return isSilent ? never() : Promise.resolve();
  };
  const inspect: InspectWay = ({ resource }, _context, look) =>
    isAbout(nameKey(resource), unanswered) ? never() : Promise.resolve(look());
  gateway.otherwise({ apply, inspect });
}

/** What fails, since when, and which drains are overdue. */
export interface Break {
  /** `undefined` at a node where everything works. */
  readonly part: Part | undefined;
  /** In milliseconds since 1970-01-01T00:00:00Z. */
  readonly brokenAt: number;
  readonly drains: readonly string[];
  /** The node that is dead. */
  readonly silent?: string;
  /** By how many milliseconds the time of each other node that lives is ahead, by name. */
  readonly ahead?: Readonly<Record<string, number>>;
  /** The links of what nobody knows at the node with the broken gateway. */
  readonly elsewhere?: readonly string[];
}

/** Whether the end of a command is known only when what is broken answers again. */
function rests({ resources, since }: CommandInFlight, { part, brokenAt }: Break): boolean {
  if (part === 'gateway') return resources.some((each) => isAbout(nameKey(each), unanswered));
  // Its record was being written when the store failed.
  return part === 'store' && since <= brokenAt + limits.storeDeadlineMs;
}

/**
 * What has not settled: a command holds something that does not rest on what is broken, or the gateway has it
 * otherwise.
 */
export function unsettledIn(
  admin: Admin,
  gateway: ScriptedGateway,
  differences: readonly string[],
  broken: Break,
): readonly string[] {
  const doubtful = doubtfulIn(admin, gateway, broken);
  // A deadline is a command, which rests on what it drains and on what is open there.
  const late = broken.part === 'store' || broken.part === 'audit' ? [] : broken.drains;
  const isHeld = (text: string): boolean =>
    doubtful.some((link) => isAbout(link, text.slice(0, text.indexOf(' '))));
  return [
    ...admin
      .commands()
      .filter((command) => !rests(command, broken))
      .map(({ type, resources }) => `${type} holds ${resources.join()} for ever`),
    ...[...differences, ...late.filter((text) => !isHeld(text))].filter(
      (text) => !doubtful.some((link) => isAbout(text, link)),
    ),
  ];
}

/** The links of what nobody knows as long as the part fails. */
export function doubtfulIn(admin: Admin, gateway: ScriptedGateway, broken: Break): readonly string[] {
  const resting = admin.commands().filter((command) => rests(command, broken));
  const held = [
    ...(broken.part === 'gateway' ? [unanswered] : []),
    ...resting.flatMap(({ resources }) => resources.map(nameKey)),
    ...(broken.elsewhere ?? []),
  ];
  // What is open there may be closed.
  const shown = [...admin.snapshot.sessions].map(({ id, service, connections }) => ({
    ...{ id: String(id), service, connections },
  }));
  const actual = Object.entries(gateway.state.sessions).map(([id, { service, connections }]) => ({
    ...{ id, service, connections: Object.values(connections) },
  }));
  const open = [...shown, ...actual].filter(({ service, connections }) =>
    [
      `/services/${service}`,
      `/services/${service}/sessions`,
      ...connections.map(({ server }) => `/servers/${server}`),
    ].some((link) => held.includes(link)),
  );
  return [...held, ...open.map(({ id }) => `/sessions/${id}`)];
}

/** What is wrong with the alerts: each one is true, and none is missing. */
export async function misreportedIn(
  admin: Admin,
  gateway: ScriptedGateway,
  broken: Break,
): Promise<readonly string[]> {
  // A clock that stands keeps a server that was not seen yet from being down.
  const told = (await alertsIn(admin)).map(
    ({ code, resource }) => `${code === 'server-not-seen' ? 'server-down' : code} ${nameKey(resource)}`,
  );
  const expected = [...failuresIn(gateway, admin.snapshot), ...brokenIn(admin, broken)];
  // Whether it is awaited rests on what the monitors list.
  const isUnseen = (text: string): boolean =>
    [...admin.snapshot.servers].some(
      ({ key, seen }) => seen.status_since === undefined && text === `server-down /servers/${key}`,
    );
  // Of a service that lists no server, only the history tells whether it had one.
  const isEmpty = (text: string): boolean =>
    [...admin.snapshot.services].some(
      ({ key, settings }) =>
        settings.servers.length === 0 && text === `service-without-server /services/${key}`,
    );
  const doubtful = doubtfulIn(admin, gateway, broken);
  // What others list decides as well whether a service has no server, and whether a monitor leaves servers alone.
  const isPartlyDoubtful = doubtful.some((link) => /^\/(?:servers|monitors)\//.test(link));
  const nearlyApart = clocksApart(broken, ([least, most], ahead) => ahead > least && ahead <= most);
  const isKnown = (text: string): boolean =>
    !doubtful.includes(text.split(' ')[1] ?? '') &&
    !nearlyApart.includes(text) &&
    !isEmpty(text) &&
    !(isPartlyDoubtful && /^(?:service-without-server|monitor-stopped|server-unwatched) /.test(text)) &&
    !(isPartlyDoubtful && isUnseen(text));
  const strays = (texts: readonly string[], others: readonly string[]): readonly string[] =>
    texts.filter((text) => !others.includes(text) && (isKnown(text) || text.startsWith('outcome-unknown ')));
  return [
    ...strays(told, expected).map((text) => `an alert is untrue: ${text}`),
    ...strays(expected, told).map((text) => `an alert is missing: ${text}`),
  ];
}

/** The settings that alerts follow from. */
interface Settings {
  readonly servers?: readonly string[];
  readonly status?: readonly string[];
  readonly drain?: object;
}

/** The alerts that follow from what the gateway has. */
function failuresIn({ state }: ScriptedGateway, { servers: shown }: Snapshot): readonly string[] {
  const thingsIn = (collection: 'services' | 'servers' | 'monitors') =>
    Object.entries(state[collection]).map(([key, { state: own, settings }]) => {
      const { servers = [], status: words = [], drain } = settings as Settings;
      return { resource: `/${collection}/${key}`, state: own, servers: servers.map(nameKey), words, drain };
    });
  const [services, servers, monitors] = [thingsIn('services'), thingsIn('servers'), thingsIn('monitors')];
  const usable = servers.filter(
    ({ words, drain }) => words.includes('running') && !words.includes('maintenance') && drain === undefined,
  );
  const isUsable = (link: string): boolean => usable.some(({ resource }) => resource === link);
  const isWatched = (link: string): boolean =>
    monitors.some((each) => each.state === 'started' && each.servers.includes(link));
  const isListed = (link: string, by = monitors): boolean => by.some((each) => each.servers.includes(link));
  // A failed monitor looks at nothing, and has an alert of its own.
  const looking = monitors.filter((each) => each.state === 'started');
  const sightOf = (resource: string) => shown.find(resource.slice('/servers/'.length));
  const isSeen = (resource: string): boolean => sightOf(resource)?.seen.status_since !== undefined;
  const isReported = (resource: string): boolean =>
    isSeen(resource) || sightOf(resource)?.seen.status_reason !== undefined;
  const found: readonly (readonly [string, readonly { readonly resource: string }[]])[] = [
    [
      'server-down',
      servers.filter(
        ({ resource, words }) => words.length === 0 && (isSeen(resource) || isListed(resource, looking)),
      ),
    ],
    [
      'server-unwatched',
      servers.filter(
        ({ resource, words }) => !isListed(resource) && (words.length === 0 || isReported(resource)),
      ),
    ],
    ['service-failed', services.filter((each) => each.state === 'failed')],
    [
      'service-without-server',
      services.filter(
        (each) => each.state === 'started' && each.servers.length > 0 && !each.servers.some(isUsable),
      ),
    ],
    ['monitor-failed', monitors.filter((each) => each.state === 'failed')],
    [
      'monitor-stopped',
      monitors.filter((each) => each.state === 'stopped' && !each.servers.every(isWatched)),
    ],
  ];
  return found.flatMap(([code, things]) => things.map(({ resource }) => `${code} ${resource}`));
}

/** Between these differences of two clocks, in milliseconds, the alert may be there: nodes estimate the difference. */
const nearly = [1400, 2600] as const;

/** The alerts about clocks that differ so much. */
function clocksApart(
  { ahead = {} }: Break,
  isApart: (between: typeof nearly, ahead: number) => boolean,
): readonly string[] {
  const named = Object.entries(ahead).filter(([, milliseconds]) => isApart(nearly, Math.abs(milliseconds)));
  return named.map(([name]) => `clocks-differ /fleet/${name}`);
}

function brokenIn(admin: Admin, broken: Break): readonly string[] {
  const { part, drains, silent } = broken;
  const unknown = admin.commands().filter(({ outcome }) => outcome === 'unknown');
  return [
    ...(part === 'store' ? ['store-retrying /'] : []),
    ...(part === 'audit' ? ['audit-not-kept /'] : []),
    ...(part === 'reports' ? ['sessions-not-reported /sessions'] : []),
    ...(silent === undefined ? [] : [`node-silent /fleet/${silent}`]),
    ...clocksApart(broken, ([, most], ahead) => ahead > most),
    ...drains.map((text) => `drain-overdue ${text.split(' ')[0] ?? ''}`),
    ...unknown.map(({ resource }) => `outcome-unknown ${nameKey(resource)}`),
  ];
}

interface Alert {
  readonly code: string;
  readonly resource: string;
}

async function alertsIn(admin: Admin): Promise<readonly Alert[]> {
  const answer = await admin.handle({ method: 'GET', target: '/alerts', headers: {} });
  if (!answer.matched || answer.response.status !== 200) throw new Error('The alerts cannot be read.');
  return JSON.parse(answer.response.body as string) as readonly Alert[];
}
