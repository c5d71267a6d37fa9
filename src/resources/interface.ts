/**
 * The interface itself: what there is to read, the version of the library, the health, and the read-only mode. The
 * Gateway Administration REST Interface has no such chapter: both endpoints are additions.
 */
import * as z from 'zod/mini';

import { defineFields, representFields } from '../core/field.ts';
import { patchSettings, patchViewOf } from '../core/patch-view.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import { patchMediaTypes, roles, type Acted, type DecidedAction, type Role } from '../http/route.ts';
import { parseOperations, type ParsedOperation } from '../json/patch.ts';
import type { JsonObject } from '../json/value.ts';
import { ok, problem } from '../problem.ts';
import type { DrainingResource, State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';
import type { Surroundings } from './shared/rendering.ts';
import { actionRoute, itemRoute } from './shared/route.ts';

/**
 * The interface in a response.
 *
 * @see docs/spec-choices.md 40.
 *
 * @public
 */
export interface InterfaceRepresentation {
  /** The name of the gateway; left out if the program gives none. */
  readonly name?: string;
  /** The environment of the gateway, such as `production`; left out if the program gives none. */
  readonly environment?: string;
  /** The name of the caller; left out without a log-in. */
  readonly user?: string;
  /** The role of the caller; left out if the rule for access knows no roles. */
  readonly role?: Role;
  /** Whether the interface takes commands: the interface is not closed, and its store answers. */
  readonly ready: boolean;
  /**
   * Whether every request that would change something is refused. Only a JSON Patch or the program changes the mode.
   */
  readonly read_only: boolean;
  /** Name of the user who has begun the read-only mode; left out if the program has, or if the user is not known. */
  readonly read_only_by?: string;
  /**
   * Whether the configuration store answers: `ok`, `retrying` while calls that failed are made again, `lost` if only a
   * restart helps. Left out without a store.
   */
  readonly store?: 'ok' | 'retrying' | 'lost';
  /** Number of commands in flight whose outcome is unknown. */
  readonly unknown_outcomes: number;
  /** Time zone of all times: an IANA name, such as `Europe/Helsinki`, or an offset, such as `+03:00`. */
  readonly time_zone: string;
  /** Version of the library. */
  readonly version: string;
  /** The link of everything that can be read without a name or an id, by the last word of the link. */
  readonly links: Readonly<Record<string, string>>;
}

/** The part of the interface that a patch can change. */
type Settings = Pick<InterfaceRepresentation, 'read_only'>;

/** A port that does not answer. */
interface PortOutage {
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
  /** Why the last call has failed, in the words of the port. */
  readonly reason: string;
}

/** The running interface, as its own endpoints show and change it. @internal */
export interface RunningInterface {
  /** The present state. */
  state(this: void): Omit<InterfaceRepresentation, 'user' | 'role'>;
  /** When this life began, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly begun: number;
  /** The ports that keep something and do not answer; left out for a port that answers. */
  outages(this: void): { readonly store?: PortOutage; readonly audit?: PortOutage };
  /** Why the last try of the deadline of a drain has failed, in a sentence; empty if it has not. */
  deadlineFailures(this: void, place: DrainingResource): readonly string[];
  /**
   * Since when a monitor that is wanted lists a server, by the link of the server, in milliseconds since
   * 1970-01-01T00:00:00Z; `undefined` if none does.
   */
  watchedSince(this: void, link: string): number | undefined;
  /** Begins or ends the read-only mode. */
  setReadOnly(this: void, readOnly: boolean, actor?: string): Promise<Acted>;
}

const fields = defineFields<{
  settings: Settings;
  representation: InterfaceRepresentation;
  document: InterfaceRepresentation;
  state: Omit<InterfaceRepresentation, keyof Settings>;
}>()({
  name: { shape: shape.text(255), optional: true },
  environment: { shape: shape.text(255), optional: true },
  user: { shape: shape.text(4096), optional: true },
  role: { shape: z.enum(roles), optional: true },
  ready: { shape: z.boolean() },
  read_only: { shape: z.boolean(), setting: true },
  read_only_by: { shape: shape.text(4096), optional: true },
  store: { shape: z.enum(['ok', 'retrying', 'lost']), optional: true },
  unknown_outcomes: { shape: shape.count },
  time_zone: { shape: shape.text(255) },
  version: { shape: shape.text(255) },
  links: { shape: z.record(z.string(), shape.text(4096)) },
});
const view = patchViewOf<Settings>(fields);

function represent({ self, times, caller }: Surroundings): object {
  return representFields(fields, { rest: { ...self.state(), ...caller?.() }, times });
}

/** Decides a patch of the interface. */
function decidePatch({ self }: Surroundings, operations: readonly ParsedOperation[]): DecidedAction {
  const state = self.state();
  const before: Settings = { read_only: state.read_only };
  const shown = (): JsonObject => ({ ...state });
  const patched = patchSettings(view, shown, before, operations, () => undefined);
  if (!patched.ok) return { outcome: 'refused', problem: patched.problem };
  const { after, operations: patch } = patched.value;
  const act = (actor?: string): Promise<Acted> => self.setReadOnly(after.read_only, actor);
  return after === before ? { outcome: 'unchanged', act } : { outcome: 'accepted', patch, act };
}

const notReady = 'The interface takes no commands at the moment. GET / says more to a reader.';

/** The kind "interface". @internal */
export const interfaceKind: Kind<State, never, never, never> = {
  fields: { interface: fields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    itemRoute({
      ...endpoint('interface.get'),
      isAddition: true,
      role: 'reader',
      summary: 'Gives the interface: its links, health and mode.',
      shape: fields.representation,
      publicFields: ['ready'],
      find: () => ok(undefined),
      read: (_snapshot, _none, surroundings) => represent(surroundings),
    }),
    actionRoute<readonly ParsedOperation[]>({
      ...endpoint('interface.patch'),
      isAddition: true,
      role: 'administrator',
      summary: `Modifies the interface with a JSON Patch: ${view.names}.`,
      mediaTypes: patchMediaTypes,
      answerShape: fields.representation,
      worksReadOnly: true,
      findIn: (_surroundings, _parameters, body) => parseOperations(body),
      decide: decidePatch,
      answer: represent,
    }),
    {
      ...endpoint('interface.ready'),
      isAddition: true,
      aliases: [],
      role: 'reader',
      query: [],
      search: [],
      fields: [],
      mediaTypes: [],
      summary: 'Says with the status alone whether the interface takes commands.',
      problem: ({ self }) => (self.state().ready ? undefined : problem('not-ready', notReady)),
    },
  ],
};
