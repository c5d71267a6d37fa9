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

type Maker = (subject: Subject) => Act;

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

const deleting =
  (id: EndpointId): Maker =>
  (subject) => simple(id, text.verbs.delete)(subject);

/** The acts on a resource, by the endpoint that `may` names, in the order in which they are shown. */
export const actsOnResource: Readonly<Partial<Record<EndpointId, Maker>>> = {
  'services.start': simple('services.start', text.verbs.start),
  'services.stop': simple('services.stop', text.verbs.stop),
  'services.drain': draining('services.drain'),
  'services.resume': simple('services.resume', text.verbs.resume),
  'services.closeSessions': (subject) => ({
    ...simple('services.closeSessions', text.verbs.closeSessions)(subject),
    title: text.closeSessionsOf(subject.name),
    closesAll: true,
  }),
  'services.delete': deleting('services.delete'),
  'servers.setMaintenance': simple('servers.setMaintenance', text.verbs.setMaintenance),
  'servers.clearMaintenance': simple('servers.clearMaintenance', text.verbs.clearMaintenance),
  'servers.drain': draining('servers.drain'),
  'servers.resume': simple('servers.resume', text.verbs.resume),
  'servers.closeConnections': (subject) => ({
    ...simple('servers.closeConnections', text.verbs.closeConnections)(subject),
    title: text.closeConnectionsOf(subject.name),
    closesAll: true,
  }),
  'servers.delete': deleting('servers.delete'),
  'monitors.start': simple('monitors.start', text.verbs.start),
  'monitors.stop': simple('monitors.stop', text.verbs.stop),
  'monitors.delete': deleting('monitors.delete'),
  'filters.delete': deleting('filters.delete'),
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
