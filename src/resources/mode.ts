/**
 * The endpoints of the interface itself, and its setting: the read-only mode. The Gateway Administration REST Interface
 * has no such chapter: the endpoints are additions.
 */
import * as z from 'zod/mini';

import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EventHead,
  type EventTable,
} from '../core/decision.ts';
import { defineFields, representFields, withMembers } from '../core/field.ts';
import { replaceSettings, patchSettings, patchViewOf } from '../core/patch-view.ts';
import * as shape from '../core/shape.ts';
import { updateBetween, type Update } from '../core/update.ts';
import { endpoint } from '../http/endpoint.ts';
import { patchMediaTypes, plainCommand, plainRoute, roles } from '../http/route.ts';
import { copyOperations, parseOperations, type Operation, type ParsedOperation } from '../json/patch.ts';
import { assertObject, sameJson, type Json, type JsonObject } from '../json/value.ts';
import { ok, problem, problemOf, type Fault, type Result } from '../problem.ts';
import type { Interface, InterfaceRepresentation, InterfaceSettings } from './interface.ts';
import type { Kind } from './shared/kind.ts';
import type { Surroundings } from './shared/rendering.ts';
import { itemRoute } from './shared/route.ts';
import { reverted, valueLimits } from './shared/settings.ts';
import { assertInputs, type Snapshot } from './snapshot.ts';

/** The event of the interface: its settings were changed. No effect belongs to it. @internal */
export type InterfaceEvent = EventHead<'interface.updated'> & Update<InterfaceSettings>;

/** The decision about the interface. @internal */
export type InterfaceDecision = DecisionOf<Snapshot, InterfaceEvent, never>;

const fields = defineFields<{
  settings: InterfaceSettings;
  representation: InterfaceRepresentation;
  document: InterfaceRepresentation;
  state: Omit<InterfaceRepresentation, keyof InterfaceSettings | 'read_only_since' | 'now'> &
    Pick<Interface, 'read_only_since'> & { readonly now: number };
}>()({
  name: { shape: shape.text(255), optional: true },
  environment: { shape: shape.text(255), optional: true },
  user: { shape: shape.text(4096), optional: true },
  role: { shape: z.enum(roles), optional: true },
  ready: { shape: z.boolean() },
  read_only: { shape: z.boolean(), setting: true },
  read_only_since: { shape: shape.instant, time: 'iso8601', optional: true },
  read_only_by: { shape: shape.text(4096), optional: true },
  read_only_reason: { shape: shape.reason, setting: true, optional: true },
  store: { shape: z.enum(['ok', 'retrying', 'lost']), optional: true },
  unknown_outcomes: { shape: shape.count },
  now: { shape: shape.instant, time: 'iso8601' },
  time_zone: { shape: shape.text(255) },
  version: { shape: shape.text(255) },
  links: { shape: z.record(z.string(), shape.text(4096)) },
});

/** Shape of the interface in the state of a store. @internal */
export const interfaceShape: z.ZodMiniType<Interface> = z.object({
  settings: z.object({ read_only: z.boolean(), read_only_reason: z.exactOptional(z.string()) }),
  read_only_since: z.exactOptional(z.number()),
  read_only_by: z.exactOptional(z.string()),
});

const view = patchViewOf<InterfaceSettings>(fields, {
  check({ read_only_reason: before }, { read_only: isReadOnly, read_only_reason: reason = before }) {
    return isReadOnly === false && reason !== before ? [reasonAlone] : [];
  },
});

const reasonAlone: Fault = {
  pointer: '/read_only_reason',
  code: 'validation-failed',
  detail: 'is allowed only while read_only is true',
};

const writable: InterfaceSettings = Object.freeze({ read_only: false });
const initial: Interface = Object.freeze({ settings: writable });

const resource = '/';

const events: EventTable<Snapshot, InterfaceEvent> = {
  'interface.updated': {
    revert(snapshot, event, context) {
      const present = settingsIn(snapshot);
      const back = reverted(fields, resource, present as unknown as JsonObject, event);
      const wanted = back.ok ? replaceSettings(view, present, asSettings(back.value), noNames) : back;
      return decideUpdate(snapshot, wanted, context);
    },
    evolve(snapshot, event) {
      // An event from a store can be damaged.
      for (const each of [event.from, event.to]) assertObject(each, 'The members of an update');
      const { settings: before, ...begun } = snapshot.interface;
      const { settings: merged } = withMembers(fields, { settings: before }, event);
      const settings = merged.read_only ? Object.freeze(merged) : writable;
      if (sameJson(settings as object as Json, before as object as Json)) return snapshot;
      const by = event.actor === undefined ? {} : { read_only_by: event.actor };
      // Another reason does not begin the mode again.
      const since = before.read_only ? begun : { read_only_since: event.at, ...by };
      return { ...snapshot, interface: Object.freeze({ settings, ...(settings.read_only && since) }) };
    },
  },
};

function settingsIn(snapshot: Snapshot): InterfaceSettings {
  return snapshot.interface.settings;
}

function asSettings(members: JsonObject): InterfaceSettings {
  return members as unknown as InterfaceSettings;
}

/** The settings have no links. */
function noNames(): undefined {
  return undefined;
}

/**
 * Modifies the interface with a JSON Patch (RFC 6902): begins or ends the read-only mode, and says why.
 *
 * Unchanged if the result equals the present settings. Refused with every fault of the patch otherwise. A patch that
 * ends the mode removes the reason.
 *
 * @param snapshot - the snapshot to decide on
 * @param operations - the operations, on `read_only` and `read_only_reason`
 * @param context - the time and the caller, who is shown with the mode
 * @returns the decision, with one `interface.updated` and no effect
 *
 * @example
 * ```ts
 * import { createSnapshot, patchInterface } from 'gateway-admin-core';
 *
 * const operations = [{ op: 'replace', path: '/read_only', value: true }] as const;
 * patchInterface(createSnapshot({}), operations, { now: 0 }).next.interface.settings.read_only; // => true
 * ```
 *
 * @see docs/spec-choices.md 40; docs/patching.md.
 *
 * @public
 */
export function patchInterface(
  snapshot: Snapshot,
  operations: readonly Operation[],
  context: Context,
): InterfaceDecision {
  assertInputs(snapshot, context);
  const parsed = copyOperations(operations, valueLimits);
  if (!parsed.ok) return refused(snapshot, parsed.problem, [resource]);
  return decidePatch(snapshot, parsed.value, context, () => ({ ...settingsIn(snapshot) }));
}

function decidePatch(
  snapshot: Snapshot,
  operations: readonly ParsedOperation[],
  context: Context,
  shown: () => object,
): InterfaceDecision {
  const before = settingsIn(snapshot);
  const patched = patchSettings(view, () => shown() as JsonObject, before, operations, noNames);
  // The reason goes with the mode.
  const isEnd = patched.ok && !patched.value.read_only;
  return decideUpdate(snapshot, isEnd ? replaceSettings(view, before, writable, noNames) : patched, context);
}

/**
 * Makes the settings those of another snapshot. Others have decided already, and who has begun the mode follows.
 *
 * @internal
 */
export function followInterface(snapshot: Snapshot, wanted: Snapshot, context: Context): InterfaceDecision {
  const followed = replaceSettings(view, settingsIn(snapshot), settingsIn(wanted), noNames);
  return decideUpdate(snapshot, followed, context);
}

function decideUpdate(
  snapshot: Snapshot,
  patched: Result<InterfaceSettings>,
  context: Context,
): InterfaceDecision {
  if (!patched.ok) return refused(snapshot, patched.problem, [resource]);
  const before = settingsIn(snapshot);
  const { value: after } = patched;
  if (after === before) return unchanged(snapshot, [resource]);
  // An undo comes later than its event: the mode can have ended.
  if (!after.read_only && after.read_only_reason !== undefined)
    return refused(snapshot, problemOf([reasonAlone]), [resource]);
  const update = updateBetween(fields, before, after);
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'interface.updated', ...eventHead(resource, context), ...update }],
  });
}

function represent({ interface: own }: Snapshot, { self, times, now, caller }: Surroundings): object {
  const { settings, ...begun } = own;
  const rest = { ...self.state(), now: now(), ...caller?.(), ...begun };
  return representFields(fields, { settings, rest, times });
}

const notReady = 'The interface takes no commands at the moment. GET / says more to a reader.';

/** The kind "interface". @internal */
export const interfaceKind: Kind<Snapshot, InterfaceEvent, never, never> = {
  // A document has no mode: a backup that is loaded must neither begin nor end one.
  whole: { document: {}, load: () => ({ interface: initial }), save: () => ({}) },
  fields: { interface: fields },
  events,
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
      read: (snapshot: Snapshot, _none, surroundings) => represent(snapshot, surroundings),
    }),
    {
      ...plainCommand,
      ...endpoint('interface.patch'),
      isAddition: true,
      role: 'administrator',
      mediaTypes: patchMediaTypes,
      summary: `Modifies the interface with a JSON Patch: ${view.names}.`,
      answerShape: fields.representation,
      worksReadOnly: true,
      find: () => ok(undefined),
      link: () => resource,
      command(_parameters, body, _secrets, surroundings) {
        const parsed = parseOperations(body);
        if (!parsed.ok) return parsed;
        return ok({
          decide: (snapshot: Snapshot, _none, context) =>
            decidePatch(snapshot, parsed.value, context, () => represent(snapshot, surroundings)),
          asked: parsed.value.map(({ op, path, from, value }) => ({ op, path, from, value })),
        });
      },
      answer: (snapshot: Snapshot, _none, surroundings) => represent(snapshot, surroundings),
    },
    {
      ...plainRoute,
      ...endpoint('interface.ready'),
      isAddition: true,
      role: 'reader',
      summary: 'Says with the status alone whether the interface takes commands.',
      problem: ({ self }) => (self.state().ready ? undefined : problem('not-ready', notReady)),
    },
  ],
};
