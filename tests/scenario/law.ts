/**
 * The laws of every scenario, whatever its steps were: nothing fails any more, everybody is waited for, and then all must
 * agree.
 */
import type { GatewayDocument } from 'gateway-admin-core';
import type { ScriptedGateway } from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';
import { historyFaults, historyOf, isLossy, wayBackFaults } from './history-law.ts';
import { answerlessFaults, callFaults, modelFaults } from './passed-law.ts';
import type { Step } from './scenario.ts';
import type { Passed, Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** What heals all parts, and lets everything come to rest. */
const healing = ['go on', 'gateway is well', 'store is well', 'wait 10min'];

/** What has gone wrong that must never go wrong, after the steps of a scenario of one process. */
export async function faultsAtRest(stage: Stage, steps: readonly Step[]): Promise<readonly string[]> {
  const place = stage.place();
  for (const step of healing) await perform(stage, step);
  if (place.process?.admin === undefined) await perform(stage, 'start');
  await perform(stage, 'host reports everything');
  await perform(stage, 'restart');
  await perform(stage, 'host reports everything');
  await perform(stage, 'wait 10min');
  const all = [...steps.flatMap(({ seen }) => seen), ...stage.takeSeen()];
  const { admin } = place.process ?? {};
  if (admin === undefined) return ['the interface does not start'];
  const [shown, mode] = [configuration(admin.snapshot), admin.snapshot.interface];
  const isHeld = heldByClients(place.gateway, all);
  const differences = place.gateway.differences(admin.snapshot).filter((text) => !isHeld(text));
  const open = admin.commands().map(({ id }) => `the command ${id} is still open`);
  const history = await historyOf(stage, admin);
  const undoes = await historyFaults(stage, admin, { history, seen: all, steps });
  await perform(stage, 'restart');
  const next = place.process?.admin;
  if (next === undefined) return ['the interface does not start again'];
  const isSame = sameJson(shown, configuration(next.snapshot)) && sameJson(mode, next.snapshot.interface);
  const kept = await historyOf(stage, next);
  // A gateway refuses to delete what clients use, and the interface knows that of what was reported.
  await perform(stage, 'host reports everything');
  const wayBack = undoes.length === 0 ? await wayBackFaults(stage, next) : [];
  return [
    ...differences.map((text) => `in the end, ${text}`),
    ...open,
    ...(isSame ? [] : ['another start shows something else']),
    ...(sameJson(factsOf(history), factsOf(kept)) ? [] : ['another start shows another history']),
    ...undoes,
    ...wayBack,
    ...configurationFaults(shown),
    ...answerFaults(stage.passed, all),
    ...(steps.some(({ text }) => mayRefuse.test(text)) ? [] : halfDoneFaults(all)),
    ...(steps.some(({ text }) => isLossy(text)) ? [] : membershipFaults(all)),
    ...answerlessFaults(stage.passed),
    ...callFaults(stage.passed),
    ...modelFaults(stage.passed),
  ];
}

/**
 * Tests whether a difference is of a server to which clients came before what was left of an abandoned creation could
 * be taken away: a gateway refuses that, and the host is told.
 */
function heldByClients({ state }: ScriptedGateway, seen: readonly string[]): (difference: string) => boolean {
  const servers = Object.values(state.sessions).flatMap(({ connections }) =>
    Object.values(connections).map(({ server }) => server),
  );
  const told = servers.filter((server) =>
    seen.some((text) => text.startsWith('host: ') && text.includes(`/servers/${server} `)),
  );
  return (difference) =>
    difference.endsWith(', the snapshot nothing') &&
    told.some(
      (server) =>
        difference.startsWith(`/servers/${server}: `) || difference.includes(`{"server":"${server}",`),
    );
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Of entries, what does not depend on the present state. */
function factsOf(history: Awaited<ReturnType<typeof historyOf>>): readonly unknown[] {
  return history.map(({ undo: _undo, ...entry }) => entry);
}

/** What no configuration may be, whatever has happened. */
function configurationFaults(document: GatewayDocument): readonly string[] {
  const { services = [], monitors = [], servers = [], filters = [] } = document;
  const links = new Set([
    ...servers.map(({ name }) => `/servers/${name}`),
    ...filters.map(({ name }) => `/filters/${name}`),
  ]);
  const listed = [...services, ...monitors].flatMap(({ name, ...lists }) =>
    [...(lists.servers ?? []), ...('filters' in lists ? (lists.filters ?? []) : [])].map((link) => [
      name,
      link,
    ]),
  );
  return [
    ...listed
      .filter(([, link = '']) => !links.has(link))
      .map(([name = '', link = '']) => `"${name}" lists ${link}, which does not exist`),
    ...services
      .filter(({ drain, state }) => drain !== undefined && state !== 'stopped')
      .map(({ name }) => `the service "${name}" drains, and is not stopped`),
  ];
}

/** Nothing is created twice, or deleted twice, without the other in between. */
function membershipFaults(seen: readonly string[]): readonly string[] {
  const last = new Map<string, string>();
  return seen.flatMap((text) => {
    const [, kind, verb, name] = /^event: (\w+)\.(created|deleted) (\S.*?)(?: by .*)?$/.exec(text) ?? [];
    if (kind === undefined || verb === undefined || name === undefined) return [];
    const [key, before] = [`${kind} ${name.toLowerCase()}`, last.get(`${kind} ${name.toLowerCase()}`)];
    // The listeners of a service go with it.
    for (const each of last.keys()) if (each.startsWith(`listener ${name.toLowerCase()} `)) last.delete(each);
    last.set(key, verb);
    return before === verb ? [`the ${kind} "${name}" was ${verb} twice`] : [];
  });
}

/** What the last answer to each client says, held against the events of the client. */
function answerFaults(passed: readonly Passed[], seen: readonly string[]): readonly string[] {
  const refused = new Map<string, number>();
  for (const each of passed) {
    if (each.what === 'request') refused.delete(each.client);
    // A command whose parts are partly done has changed something, and says so.
    const isRefusal = each.what === 'answer' && each.status >= 400 && each.status < 500;
    if (isRefusal && each.code !== 'partly-done') refused.set(each.client, each.status);
  }
  const changed = new Map<string, string[]>();
  for (const text of seen) {
    const [, what = '', by] = /^event: (\S+ \S+.*?) by (c\d+)\b/.exec(text) ?? [];
    if (by !== undefined && !what.startsWith('command.failed'))
      changed.set(by, [...(changed.get(by) ?? []), what]);
  }
  return [...refused].flatMap(([client, status]) => {
    const events = changed.get(client) ?? [];
    return isTakenBack(events)
      ? []
      : [`${client} was refused with ${String(status)}, and has made ${events.join()}`];
  });
}

/** Steps after which the gateway may refuse to take something back, or an event may be told in two lives. */
const mayRefuse = /refuse|fail|throw|veto|^store\b|store:/;

/** A command that has failed has changed nothing in the end, but for what was closed. */
function halfDoneFaults(seen: readonly string[]): readonly string[] {
  const made = new Map<string, string[]>();
  const failed = new Set<string>();
  for (const text of seen) {
    const [, what = '', id] = /^event: (\S+ \S+.*?) by \S+ \(([^)]+)\)/.exec(text) ?? [];
    if (id === undefined) continue;
    if (what.startsWith('command.failed')) failed.add(id);
    else made.set(id, [...(made.get(id) ?? []), what]);
  }
  return [...failed].flatMap((id) => {
    const events = made.get(id) ?? [];
    const isFinal = events.some((event) => /\.(?:closed|flushed) /.test(event));
    return isFinal || isTakenBack(events) ? [] : [`${id} has failed, and has made ${events.join()}`];
  });
}

/** What an event turns, and in which direction. */
const turns: Readonly<Record<string, readonly [aspect: string, by: number]>> = {
  created: ['membership', 1],
  deleted: ['membership', -1],
  started: ['state', 1],
  stopped: ['state', -1],
};

/** Whether events can cancel each other: each turn has its opposite, and each other change a second one. */
function isTakenBack(events: readonly string[]): boolean {
  const sums = new Map<string, number>();
  const others = new Map<string, number>();
  for (const event of events) {
    const [, kind = '', verb = '', name = ''] = /^(\w+)\.(\w+) (.*)$/.exec(event) ?? [];
    const [aspect = verb, by] = turns[verb] ?? [];
    const key = `${kind} ${name} ${aspect}`;
    const counts = by === undefined ? others : sums;
    counts.set(key, (counts.get(key) ?? 0) + (by ?? 1));
  }
  return (
    [...sums.values()].every((sum) => sum === 0) && [...others.values()].every((count) => count % 2 === 0)
  );
}
