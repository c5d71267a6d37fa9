/**
 * Acts: everything that a person can do to the gateway, as data. Each act is an endpoint with what it is given.
 */
import { linkTo, type Operation, type Plan } from 'gateway-admin-core';
import { acts, closeEach, listedBy, nameToType, subjectOfSearch } from 'gateway-admin-core/client';
import type {
  ActId,
  ChosenSession,
  Client,
  CommandId,
  ResultOf,
  SessionSearch,
} from 'gateway-admin-core/client';

import { commandAt, type CommandMethod } from './connection.ts';
import { definitionOf, linksIn, linksText, numberOf, patchOf, textsOf, type Typed } from './form.ts';
import { isUpAt } from './health.ts';
import { nameAt } from './name.ts';
import { rowsOf, type Collection, type Model, type Row } from './model.ts';
import { closesLater } from './plan.ts';
import type { Field, Input } from './meaning.ts';
import { text } from './text.ts';

const { verbs } = text;

export interface Act {
  readonly id: CommandId;
  /** The row of the table of acts. Default: that of the endpoint. */
  readonly row?: ActId;
  /** What is done, such as `Stop Sales`. */
  readonly title: string;
  /** What is done with the values of the inputs. Default: the title. */
  readonly titleWith?: (typed: Typed) => string;
  /** The name of the thing that the act is about, or a phrase for several things; left out for the whole gateway. */
  readonly subject?: string | undefined;
  /** The arguments of the method of the client: the subject and the body. */
  readonly given: readonly unknown[];
  readonly options?: object;
  /** The options with the values of the inputs. Default: `options`. */
  readonly optionsWith?: (typed: Typed) => object;
  readonly inputs?: readonly Input[];
  /** What the inputs have at first. Default: nothing, and the first of choices. */
  readonly typed?: Typed;
  /** The arguments with the values of the inputs. Default: `given`. */
  readonly withInputs?: (typed: Typed) => readonly unknown[];
  /** The links of the resources, to find who else changes them; left out if there are none. */
  readonly resources?: readonly string[];
  /** The method that plans and does it. Default: that of the endpoint. */
  readonly methodOf?: (client: Client) => CommandMethod;
  /** Called once it is done. */
  readonly onDone?: () => void;
  /** Whether it counts as closing everything that a service or server has open. */
  readonly closesAll?: true;
}

/** A resource that the page shows: its collection, its link and its name. */
export interface Subject {
  readonly collection: string;
  readonly link: string;
  readonly name: string;
}

/** What the page knows of the state of a resource. */
type Shown = Readonly<Record<string, unknown>>;

/** A resource of a list. */
export type Named = Shown & { readonly name: string };

/** Makes an act of a resource as it was read, with its entity tag. */
type Maker = (subject: Subject, resource: Shown, etag?: string) => Act;

/** A row of the acts on a resource. */
interface ActRow {
  /** The endpoint that `may` names. */
  readonly id: CommandId;
  readonly act: Maker;
  /** Whether the act would leave a resource in this state as it is. */
  readonly isMoot?: (resource: Shown) => boolean;
  /** The code of the refusal that the act has a way around; it is shown for that alone. Left out for most. */
  readonly despite?: string;
}

/** An act that needs the name of its resource, and nothing else. */
function row(id: CommandId, verb: string, isMoot: ActRow['isMoot'] = () => false): ActRow {
  return { id, act: simple(id, verb), isMoot };
}

function simple(id: CommandId, verb: string): Maker {
  return ({ name, link }) => ({
    id,
    title: `${verb} ${name}`,
    subject: name,
    given: [name],
    resources: [link],
  });
}

const reasonInput: Input = { name: 'reason', label: text.drain.reason, type: 'text' };

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
  reasonInput,
];

function draining(id: CommandId): ActRow {
  return {
    id,
    act: (subject, resource) => ({
      ...simple(id, resource['drain'] === undefined ? verbs.drain : verbs.changeDrain)(subject, resource),
      inputs: drainInputs,
      withInputs: ({ timeout = '', then, reason }) => {
        const minutes = numberOf(timeout);
        return [
          subject.name,
          {
            ...(timeout.trim() === ''
              ? {}
              : { timeout: typeof minutes === 'number' ? Math.round(minutes * 60) : minutes, then }),
            ...(reason === '' ? {} : { reason }),
          },
        ];
      },
    }),
  };
}

/** An act that closes everything that a resource has open. */
function closing(id: CommandId, titleFor: (name: string) => string): ActRow {
  return {
    id,
    act: (subject, resource) => ({
      ...simple(id, '')(subject, resource),
      title: titleFor(subject.name),
      closesAll: true,
    }),
  };
}

/** An act that begins or ends the read-only mode. */
function holding(isReadOnly: boolean): ActRow {
  const operation = { op: 'replace', path: '/read_only', value: isReadOnly };
  return {
    id: 'interface.patch',
    act: ({ name }) => ({
      id: 'interface.patch',
      ...(isReadOnly && { row: 'interface.hold' }),
      title: isReadOnly ? text.hold(name) : text.release(name),
      given: [[operation]],
      ...(isReadOnly && {
        inputs: [reasonInput],
        withInputs: ({ reason = '' }: Typed) => [
          [operation, ...(reason === '' ? [] : [{ op: 'add', path: '/read_only_reason', value: reason }])],
        ],
      }),
    }),
    isMoot: ({ read_only: now }) => now === isReadOnly,
  };
}

/** An act that takes a resource out of all lists, and deletes it. */
function detaching(id: CommandId): ActRow {
  const act = simple(id, verbs.detach);
  return {
    id,
    act: (subject, resource) => ({ ...act(subject, resource), options: { detach: true } }),
    despite: 'resource-in-use',
  };
}

/** The act that makes the gateway as a document says. Its plan compares the two. */
export function adopting(document = ''): Act {
  return {
    id: 'document.adopt',
    title: text.document.compare,
    titleWith: ({ document = '' }) => (document.trim() === '' ? text.document.compare : text.document.apply),
    given: [],
    inputs: [
      {
        ...{ name: 'document', label: text.document.label, hint: text.document.hint },
        ...{ type: 'long', isRequired: true },
      },
      { name: 'only', label: text.document.extent, type: 'choice', choices: text.document.extents },
    ],
    typed: { document },
    withInputs: ({ document: typed = '' }) => [jsonIn(typed)],
    optionsWith: ({ only }) => (only ? { only } : {}),
  };
}

/** The value that a text is in JSON; the text itself if it is none. */
function jsonIn(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** An act on the gateway itself. */
function onGateway(id: CommandId, title: string): ActRow {
  return { id, act: () => ({ id, title, given: [] }) };
}

const isNotDraining = ({ drain }: Shown): boolean => drain === undefined;
const isInMaintenance = ({ status }: Shown): boolean =>
  (status as readonly string[] | undefined)?.includes('maintenance') === true;

/** The acts that need the name of their resource alone. */
const verbRows = Object.entries(acts).flatMap(([id, { verb }]) => {
  if (verb === undefined) return [];
  const { word, moot } = verb;
  const isMoot = ({ state }: Shown): boolean => moot !== undefined && state === moot;
  return [row(id as CommandId, `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, isMoot)];
});

/** The acts on a resource, in the order in which they are shown. */
export const actsOnResource: readonly ActRow[] = [
  ...verbRows,
  draining('services.drain'),
  row('services.resume', verbs.resume, isNotDraining),
  closing('services.closeSessions', text.closeSessionsOf),
  row('services.delete', verbs.delete),
  row('servers.setMaintenance', verbs.setMaintenance, isInMaintenance),
  row('servers.clearMaintenance', verbs.clearMaintenance, (resource) => !isInMaintenance(resource)),
  draining('servers.drain'),
  row('servers.resume', verbs.resume, isNotDraining),
  closing('servers.closeConnections', text.closeConnectionsOf),
  row('servers.delete', verbs.delete),
  detaching('servers.delete'),
  row('monitors.delete', verbs.delete),
  row('filters.delete', verbs.delete),
  detaching('filters.delete'),
  {
    id: 'sessions.close',
    act: ({ name, link }, { user }, etag) => ({
      id: 'sessions.close',
      title: text.closeSession(name, String(user)),
      subject: name,
      given: [Number(name)],
      // A later session can have the id.
      options: { ifMatch: etag },
      resources: [link],
    }),
  },
  holding(true),
  holding(false),
  { id: 'document.adopt', act: () => adopting() },
  onGateway('gateway.flushLogs', text.flushLogs),
  onGateway('fleet.retry', text.retryBehind),
];

/** Whether an act is rare, so that its button is behind those that are wanted every day. */
export function isRare({ id }: Pick<Act, 'id'>, { drain }: Shown): boolean {
  // A drain is ended where its progress is.
  return /[.](?:delete|create|retry)$/.test(id) || (drain !== undefined && /[.](?:start|close)/.test(id));
}

/** The act that creates a resource with the settings of another. */
export function copying(table: readonly Field[], { collection, name }: Subject, resource: Shown): Act {
  // A secret is not shown, and what acts change is not copied.
  const copied = table.filter(({ isSettable, inDefinition }) => isSettable || inDefinition === 'required');
  return {
    ...creating(table, collection),
    title: text.addLike(collection, name),
    typed: { ...textsOf(copied, resource), name: '' },
  };
}

/** What a new resource is among. */
interface Surrounded {
  /** The service of a new listener. */
  readonly service?: string | undefined;
  /** The others of the kind. What all have in common, the new one has at first. */
  readonly others?: readonly Named[];
  /** The links of what lists all others, by the collection of the list. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
}

/** The act that creates a resource of a collection, or a listener of a service. */
export function creating(
  table: readonly Field[],
  collection: string,
  { service, others = [], lists = {} }: Surrounded = {},
): Act {
  const listedIn = Object.fromEntries(Object.entries(lists).map(([list, links]) => [list, linksText(links)]));
  const fields = table
    .filter(({ inDefinition }) => inDefinition !== undefined)
    .toSorted(
      (one, other) => Number(other.inDefinition === 'required') - Number(one.inDefinition === 'required'),
    );
  const act = {
    id: service === undefined ? (`${collection}.create` as CommandId) : 'services.createListener',
    title: text.add(collection, service),
    subject: service ?? collection,
    given: [],
    inputs: fields.map(({ input }) => input),
    typed: { ...commonOf(fields, others), ...listedIn, ...ownOf(others, service) },
    titleWith: ({ name = '' }) => text.addNamed(collection, name, service),
    withInputs: (typed) => [...(service === undefined ? [] : [service]), definitionOf(fields, typed)],
    ...(service === undefined ? {} : { resources: [linkTo('services', service)] }),
  } satisfies Act;
  return collection === 'servers' || collection === 'filters' ? creatingIn(act, collection) : act;
}

/** What all of some resources have, as the texts of a form, and the next name in their row. */
function commonOf(fields: readonly Field[], others: readonly Named[]): Typed {
  const links = (name: string): readonly string[] =>
    others
      .map((each) => (each[name] ?? []) as readonly string[])
      .reduce((one, other) => one.filter((link) => other.includes(link)));
  if (others.length === 0) return {};
  return {
    ...sameTexts(fields, others),
    ...Object.fromEntries(
      fields.filter(({ type }) => type === 'names').map(({ name }) => [name, linksText(links(name))]),
    ),
    name: nextName(others.map(({ name }) => name)),
  };
}

/** What a new resource has for itself: how it begins, and the place where no other one is. */
function ownOf({ length }: readonly Named[], service: string | undefined): Typed {
  if (service !== undefined) return { port: '' };
  return { state: '', ...(length === 1 ? { address: '' } : {}) };
}

/** The texts of the fields in which some resources do not differ; those of the other fields are empty. */
function sameTexts(fields: readonly Field[], resources: readonly Shown[]): Typed {
  const [first = {}, ...others] = resources.map((each) => textsOf(fields, each));
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [
      name,
      others.every((each) => each[name] === value) ? value : '',
    ]),
  );
}

/** The name that follows names such as `db-1` and `db-2`; empty if they are no row. */
function nextName(names: readonly string[]): string {
  const parts = names.map((name) => /^(.*?)([ -]?)(\d*)$/.exec(name) ?? []);
  const [[, stem = '', gap = ''] = []] = parts;
  if (!parts.every(([, each]) => each === stem)) return '';
  const last = Math.max(...parts.map(([, , , number]) => Number(number ?? '') || 1));
  return `${stem}${gap || ' '}${String(last + 1)}`;
}

/** The act that creates a resource and adds it to the lists that the person chooses, as one change. */
function creatingIn(act: Act, collection: keyof typeof listedBy): Act {
  const lists = listedBy[collection];
  return {
    ...act,
    id: 'sequence.send',
    row: act.id,
    inputs: [
      ...(act.inputs ?? []),
      ...lists.map((list): Input => ({ name: list, label: text.in[list], type: 'links' })),
    ],
    withInputs(typed) {
      const value = linkTo(collection, typed['name']?.trim() ?? '');
      const commands = [
        { method: 'POST', path: `/${collection}`, body: act.withInputs?.(typed)[0] },
        ...lists
          .flatMap((list) => linksIn(list, typed[list] ?? ''))
          .map((path) => ({ method: 'PATCH', path, body: [{ op: 'add', path: `/${collection}/-`, value }] })),
      ];
      return [{ commands }];
    },
  };
}

export function deletingListener(service: string, listener: string): Act {
  return {
    id: 'services.deleteListener',
    title: text.deleteListener(listener, service),
    subject: listener,
    given: [service, listener],
    resources: [linkTo('services', service)],
  };
}

const passwordInput: Input = {
  name: 'password',
  label: text.logIn.password,
  type: 'password',
  isRequired: true,
};

export const creatingUser: Act = {
  id: 'users.create',
  title: text.add('users'),
  given: [],
  inputs: [{ name: 'name', label: text.logIn.name, type: 'text', isRequired: true }, passwordInput],
  titleWith: ({ name = '' }) => text.addNamed('users', name),
  withInputs: ({ name, password }) => [{ name, password }],
};

export function changingPassword(name: string): Act {
  return {
    id: 'users.patch',
    title: text.changePassword(name),
    subject: name,
    given: [],
    inputs: [passwordInput],
    withInputs: ({ password }) => [name, [{ op: 'replace', path: '/password', value: password }]],
  };
}

/** The act of an alert, with what the page knows of its resource. */
export function actOfAlert(
  { id, resource, inputs, text: title }: NonNullable<Row<'alerts'>['acts']>[number],
  model: Pick<Model, 'lists'>,
): Act {
  const [, collection = ''] = resource.split('/');
  const known = rowsOf(model, collection as Collection) as readonly Partial<Row<'services'>>[];
  const name = nameAt(model, resource);
  const found = known.find((each) => each.name === name);
  const subject = { collection, link: resource, name };
  if (inputs === undefined) {
    const made = actsOnResource.find((each) => each.id === id)?.act(subject, {});
    return { ...(made ?? actOn(id, '', name)), title };
  }
  const others = rowsOf(model, 'servers')
    .map((server): readonly [string, string] => [linkTo('servers', server.name), server.name])
    .filter(([link]) => found?.servers?.includes(link) !== true && isUpAt(model, link));
  return {
    ...{ id, title, subject: name, given: [], resources: [resource] },
    inputs: [{ name: 'server', label: text.columns.server, type: 'choice', choices: others }],
    withInputs: ({ server }) => [name, [{ op: 'add', path: '/servers/-', value: server }]],
  };
}

/** An act on something that a list shows without a page of its own. */
export function actOn(id: CommandId, verb: string, name: string, what = name): Act {
  return { id, title: `${verb} ${what}`, subject: name, given: [name] };
}

/**
 * The act that changes the settings of a resource. Its plan shows what others have changed since the form was filled.
 */
export function patching({ collection, link, name }: Subject, patch: readonly object[]): Act {
  return {
    id: `${collection}.patch` as CommandId,
    title: text.change(name),
    subject: name,
    given: [name, patch],
    resources: [link],
  };
}

/** An act on each of several resources of a collection, as one sequence. */
export function onEach(make: Maker, subjects: readonly Subject[]): Act {
  const names = subjects.map(({ name }) => name);
  const links = subjects.map(({ link }) => link);
  const [{ collection } = { collection: '' }] = subjects;
  const act = make({ collection, link: '', name: text.several(collection, names) }, {});
  const withInputs = (typed: Typed): readonly unknown[] => {
    const [, body] = act.withInputs?.(typed) ?? [];
    return [{ commands: links.map((link) => commandAt(act.id, link, body)) }];
  };
  return { ...act, id: 'sequence.send', row: act.id, resources: links, withInputs };
}

/**
 * The act that changes settings of several resources. A setting in which they differ has no text at first, and stays as
 * it is while it has none.
 */
export function changing(table: readonly Field[], collection: string, rows: readonly Named[]): Act {
  const fields = table.filter(({ isSettable }) => isSettable);
  const same = sameTexts(fields, rows);
  const names = rows.map(({ name }) => name);
  const links = names.map((name) => linkTo(collection, name));
  const id = `${collection}.patch` as CommandId;
  return {
    ...{ id: 'sequence.send', row: id, given: [], resources: links },
    title: text.changeEach(text.several(collection, names)),
    subject: text.several(collection, names),
    typed: same,
    inputs: fields.map(({ name, input }) => {
      const isSame = rows.every((row) => JSON.stringify(row[name]) === JSON.stringify(rows[0]?.[name]));
      return { ...input, isRequired: false, hint: `${isSame ? '' : `${text.differs} `}${input.hint ?? ''}` };
    }),
    withInputs(typed) {
      const edited = fields.filter(({ name }) => (typed[name] ?? '') !== same[name]);
      const patchFor = (row: Shown): readonly Operation[] => patchOf(edited, row, typed);
      return [{ commands: rows.map((row, at) => commandAt(id, links[at] ?? '', patchFor(row))) }];
    },
  };
}

/** The act that closes the sessions of a search. */
export function closingOf(search: SessionSearch, words: string): Act {
  const isAll = Object.keys(search).length === 0;
  const isOfService = search.service !== undefined && Object.keys(search).length === 1;
  return {
    id: 'sessions.closeMany',
    title: isAll ? text.closeAllSessions : text.closeSessionsThat(words),
    subject: subjectOfSearch(search),
    given: [],
    options: isAll ? { all: true } : search,
    ...(isAll || isOfService ? { closesAll: true } : {}),
  };
}

/** The act that closes chosen sessions, each only if it is the one that was chosen. */
export function closingChosen(chosen: readonly ChosenSession[], onDone: () => void): Act {
  return {
    id: 'sessions.close',
    title: text.closeChosen(chosen.length),
    subject: text.chosenSessions(chosen.length),
    given: [],
    methodOf: (client) => closeEach(client, chosen) as CommandMethod,
    onDone,
  };
}

export function undoing(id: string, what: string): Act {
  return { id: 'history.undo', title: text.undo(what), subject: what, given: [id] };
}

export function restoring(id: string, when: string): Act {
  return { id: 'history.restore', title: text.restore(when), subject: when, given: [id] };
}

/** What the button says that does the act: what is done, to what, and how many sessions or connections close. */
export function buttonText(act: Act, { closes }: Plan): string {
  const { id, title, subject = '', methodOf, options } = act;
  const { sessions, connections } = closes;
  if (id === 'servers.closeConnections') return text.button.closeConnections(connections, subject);
  if (id === 'services.closeSessions') return text.button.closeSessions(sessions, subject);
  if (id === 'sessions.closeMany' || methodOf !== undefined)
    return text.button.closeSessions(sessions, (options as SessionSearch | undefined)?.service);
  // The title has the session that closes.
  const isAlone = id === 'sessions.close' || sessions + connections === 0;
  return isAlone ? title : text.button.andCloses(title, sessions, connections);
}

/** The gateway that an act changes: its address, and what it says of itself. */
export interface Target extends Pick<ResultOf<'interface.get'>, 'name' | 'environment'> {
  readonly address: string;
}

/** What a person must type before the act; `undefined` for an act that the button alone does. */
export function typedFor(
  { id, row: own = id, closesAll, subject }: Act,
  { closes, notes = [] }: Plan,
  { address, name: gateway = address, environment }: Target,
): string | undefined {
  const isMuch = notes.some((note) => note.code === 'no-usable-server' || closesLater(note));
  const isAll = closesAll === true && closes.sessions + closes.connections > 0;
  const name = nameToType(own, { subject, gateway, environment });
  return name ?? (isMuch || isAll ? (subject ?? text.allSessions) : undefined);
}
