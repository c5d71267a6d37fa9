/**
 * Acts: everything that a person can do to the gateway, as data. Each act is an endpoint with what it is given.
 */
import type { EndpointId, SessionSearch } from 'gateway-admin-core/client';
import type { InterfaceRepresentation } from 'gateway-admin-core';

import type { Accepted } from './plan.ts';
import { text } from './text.ts';

/** A value that a person chooses before the plan is made. */
export interface Input {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'long' | 'number' | 'password' | 'choice';
  readonly hint?: string;
  readonly choices?: readonly (readonly [value: string, label: string])[];
}

/** The values of inputs, as they are typed. */
export type Typed = Readonly<Record<string, string>>;

export interface Act {
  readonly id: EndpointId;
  /** What is done, such as `Stop Sales`. */
  readonly title: string;
  /** The name of the thing that the act is about, or a phrase for several things. */
  readonly subject: string;
  /** The arguments of the method of the client: the subject and the body. */
  readonly given: readonly unknown[];
  readonly options?: object;
  readonly inputs?: readonly Input[];
  /** The arguments with the values of the inputs. Default: `given`. */
  readonly withInputs?: (typed: Typed) => readonly unknown[];
  /** The link of the resource, to find who else changes it; left out if there is none. */
  readonly resource?: string;
  /** Whether it counts as closing everything that a service or server has open. */
  readonly closesAll?: true;
}

/** A resource that the page shows: its collection, its link and its name. */
export interface Subject {
  readonly collection: string;
  readonly link: string;
  readonly name: string;
}

/** A row of the acts on a resource. */
interface ActRow {
  readonly act: (subject: Subject) => Act;
  /** Whether the act would leave a resource in this state as it is. */
  readonly isMoot?: (resource: Shown) => boolean;
}

/** What the page knows of the state of a resource. */
type Shown = Readonly<Record<string, unknown>>;

type Maker = ActRow['act'];

const simple =
  (id: EndpointId, verb: string): Maker =>
  ({ name, link }) => ({ id, title: `${verb} ${name}`, subject: name, given: [name], resource: link });

const drainInputs: readonly Input[] = [
  { name: 'timeout', label: text.drain.timeout, type: 'number', hint: text.drain.timeoutHint },
  {
    name: 'then',
    label: text.drain.then,
    type: 'choice',
    choices: [
      ['close', text.drain.thenClose],
      ['resume', text.drain.thenResume],
    ],
  },
  { name: 'reason', label: text.drain.reason, type: 'text' },
];

const draining =
  (id: EndpointId): Maker =>
  (subject) => ({
    ...simple(id, text.verbs.drain)(subject),
    inputs: drainInputs,
    withInputs: ({ timeout = '', then = 'close', reason = '' }) => [
      subject.name,
      {
        ...(timeout === '' ? {} : { timeout: Math.round(Number(timeout) * 60), then }),
        ...(reason === '' ? {} : { reason }),
      },
    ],
  });

/** Acts that close everything that a resource has open. */
const closing =
  (id: EndpointId, titleFor: (name: string) => string): Maker =>
  (subject) => ({ ...simple(id, '')(subject), title: titleFor(subject.name), closesAll: true });

const isStarted = ({ state }: Shown): boolean => state === 'started';
const isStopped = ({ state }: Shown): boolean => state === 'stopped';
const isNotDraining = ({ drain }: Shown): boolean => drain === undefined;
const isInMaintenance = ({ status }: Shown): boolean =>
  (status as readonly string[] | undefined)?.includes('maintenance') === true;

const { verbs } = text;

/** The acts on a resource, by the endpoint that `may` names, in the order in which they are shown. */
export const actsOnResource: Readonly<Partial<Record<EndpointId, ActRow>>> = {
  'services.start': { act: simple('services.start', verbs.start), isMoot: isStarted },
  'services.stop': { act: simple('services.stop', verbs.stop), isMoot: isStopped },
  'services.drain': { act: draining('services.drain') },
  'services.resume': { act: simple('services.resume', verbs.resume), isMoot: isNotDraining },
  'services.closeSessions': { act: closing('services.closeSessions', text.closeSessionsOf) },
  'services.delete': { act: simple('services.delete', verbs.delete) },
  'servers.setMaintenance': {
    act: simple('servers.setMaintenance', verbs.setMaintenance),
    isMoot: isInMaintenance,
  },
  'servers.clearMaintenance': {
    act: simple('servers.clearMaintenance', verbs.clearMaintenance),
    isMoot: (resource) => !isInMaintenance(resource),
  },
  'servers.drain': { act: draining('servers.drain') },
  'servers.resume': { act: simple('servers.resume', verbs.resume), isMoot: isNotDraining },
  'servers.closeConnections': { act: closing('servers.closeConnections', text.closeConnectionsOf) },
  'servers.delete': { act: simple('servers.delete', verbs.delete) },
  'monitors.start': { act: simple('monitors.start', verbs.start), isMoot: isStarted },
  'monitors.stop': { act: simple('monitors.stop', verbs.stop), isMoot: isStopped },
  'monitors.delete': { act: simple('monitors.delete', verbs.delete) },
  'filters.delete': { act: simple('filters.delete', verbs.delete) },
  'sessions.close': {
    act: ({ name, link }) => ({
      id: 'sessions.close',
      title: text.closeSession(name),
      subject: name,
      given: [Number(name)],
      resource: link,
    }),
  },
};

/** The act that changes the settings of a resource. */
export function patching(
  { collection, link, name }: Subject,
  patch: readonly object[],
  ifMatch: string | undefined,
): Act {
  return {
    id: `${collection}.patch` as EndpointId,
    title: text.change(name),
    subject: name,
    given: [name, patch],
    options: ifMatch === undefined ? {} : { ifMatch },
    resource: link,
  };
}

/** The act that closes the sessions of a search. */
export function closingOf(search: SessionSearch, words: string): Act {
  const isAll = Object.keys(search).length === 0;
  const isOfService = search.service !== undefined && Object.keys(search).length === 1;
  return {
    id: 'sessions.closeMany',
    title: isAll ? text.closeAllSessions : text.closeSessionsThat(words),
    subject: search.service ?? text.allSessions,
    given: [],
    options: isAll ? { all: true } : search,
    ...(isAll || isOfService ? { closesAll: true } : {}),
  };
}

/** The act that closes chosen sessions, each only if it is the one that was chosen. */
export function closingChosen(chosen: readonly { readonly id: number; readonly etag: string }[]): Act {
  const commands = chosen.map(({ id, etag }) => ({
    method: 'DELETE',
    path: `/sessions/${String(id)}`,
    if_match: etag,
  }));
  return {
    id: 'sequence.send',
    title: text.closeChosen(chosen.length),
    subject: text.chosenSessions(chosen.length),
    given: [{ commands }],
  };
}

export function undoing(id: string, what: string): Act {
  return { id: 'history.undo', title: text.undo(what), subject: what, given: [id] };
}

export function restoring(id: string, when: string): Act {
  return { id: 'history.restore', title: text.restore(when), subject: when, given: [id] };
}

/** What the button says that does the act: what is done, to what, and how many sessions or connections close. */
export function buttonText({ id, title, subject }: Act, { closes }: Accepted): string {
  const { sessions, connections } = closes;
  if (id === 'servers.closeConnections') return text.button.closeConnections(connections, subject);
  if (id === 'services.closeSessions' || id === 'sessions.closeMany' || id === 'sequence.send')
    return text.button.closeSessions(sessions, id === 'services.closeSessions' ? subject : undefined);
  return sessions + connections === 0 ? title : text.button.andCloses(title, sessions, connections);
}

/** What a person must type before the act; `undefined` for an act that the button alone does. */
export function typedFor(
  { closesAll, subject }: Act,
  { closes, notes = [] }: Accepted,
  gateway: InterfaceRepresentation | undefined,
): string | undefined {
  if (gateway?.environment === 'production') return gateway.name ?? gateway.environment;
  const isLast = notes.some(({ code }) => code === 'no-usable-server');
  return isLast || (closesAll === true && closes.sessions + closes.connections > 0) ? subject : undefined;
}
