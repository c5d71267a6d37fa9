/**
 * Filters: what the requests of a service pass through.
 *
 * The chapter "Filter" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import type { Entity } from '../core/collection.ts';
import type { Context } from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import type { Operation, ParsedOperation } from '../json/patch.ts';
import { formatPointer, reservedToken } from '../json/pointer.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Fault } from '../problem.ts';
import { linkOf, type Snapshot } from '../snapshot/snapshot.ts';
import type { Decision } from './index.ts';
import type { Kind } from './shared/kind.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  decidePatch,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';

/**
 * A parameter of a filter.
 *
 * @public
 */
export interface FilterParameter {
  /** Its value. */
  readonly value: string;
  /** Whether a patch may change it. */
  readonly configurable: boolean;
}

/**
 * What can be modified in a filter.
 *
 * @public
 */
export interface FilterSettings {
  /** The parameters by name. */
  readonly parameters: Readonly<Record<string, FilterParameter>>;
}

/**
 * A filter as the snapshot keeps it.
 *
 * @public
 */
export interface Filter extends Entity {
  /** Name of the filter module. */
  readonly module: string;
  /** What can be modified. */
  readonly settings: FilterSettings;
}

/**
 * A filter as clients see it.
 *
 * @public
 */
export interface FilterRepresentation extends FilterSettings {
  /** Name of the filter. */
  readonly name: string;
  /** Name of the filter module. */
  readonly module: string;
  /** Links of the services that use it, in declaration order. */
  readonly services: readonly string[];
}

/**
 * A filter in a gateway document.
 *
 * @public
 */
export interface FilterDocument {
  /** Name of the filter. */
  readonly name: string;
  /** Name of the filter module. */
  readonly module: string;
  /** The parameters by name, or a single one with its name; none when left out. */
  readonly parameters?: FilterSettings['parameters'] | (FilterParameter & { readonly name: string });
  /** Ignored: derived from the services. */
  readonly services?: unknown;
}

/** What can happen to a filter: its settings are changed. @internal */
export type FilterEvent = UpdateEvent<'filter', FilterSettings>;

/** What the host is asked to do with a filter: change its settings. @internal */
export type FilterEffect = UpdateEffect<'filter', FilterSettings>;

const parameter = z.strictObject({ value: shape.text(4096), configurable: z.boolean() });
const parameters = z
  .record(shape.text(255).check(z.minLength(1)), parameter)
  .check(shape.membersAtMost(1000));

const parameterName = shape.text(255).check(
  z.minLength(1),
  z.refine((name) => reservedToken([name]) === undefined, { error: 'cannot be used as a key' }),
);

/** The single-entry form that one sample of the contract shows; it stands for a map with that one entry. */
const singleEntry = z.pipe(
  z.strictObject({ name: parameterName, ...parameter.shape }),
  z.transform(({ name, ...entry }): Record<string, FilterParameter> => ({ [name]: entry })),
);

const fields = defineFields<{
  settings: FilterSettings;
  representation: FilterRepresentation;
}>()({
  name: { shape: shape.name },
  module: { shape: shape.text(255) },
  parameters: {
    shape: parameters,
    accepts: z.union([parameters, singleEntry], { error: 'must map names to { value, configurable }' }),
    setting: true,
    default: {},
  },
  services: { shape: shape.links, derived: true },
});

function represent(snapshot: Snapshot, filter: Filter, { times }: Rendering): object {
  const link = linkOf('filters', filter);
  const using = [...snapshot.services].filter(({ settings }) => settings.filters.includes(link));
  return representFields(fields, {
    rest: filter,
    settings: filter.settings,
    derived: { services: using.map((service) => linkOf('services', service)) },
    times,
  });
}

const settings = settingsOf('filters', fields, { represent, expand, check });

/**
 * The shorthands for a parameter: text stands for its value, `configurable` is true unless said otherwise, and
 * setting the value of a parameter that is not there adds it.
 */
function expand(operation: ParsedOperation, settings: JsonObject): ParsedOperation {
  const { op, path, value } = operation;
  const [field, name, member] = path;
  if (field !== 'parameters' || value === undefined || op === 'test') return operation;
  if (name === undefined) return { ...operation, ...fromSingleEntry(value) };
  if (member === undefined) return { ...operation, value: fromShorthand(value) };
  // An earlier operation may have put anything in the place of the map; the result will be refused then.
  const { parameters } = settings;
  const present = !isObject(parameters) || Object.hasOwn(parameters, name);
  if (present || path.length > 3 || member !== 'value' || op !== 'add') return operation;
  return { ...operation, path: [field, name], value: { value, configurable: true } };
}

/** The single-entry form: an object that is itself a parameter with its name. */
function fromSingleEntry(value: Json | undefined): { readonly value?: Json } {
  if (!isObject(value) || typeof value['name'] !== 'string') return {};
  const { name, ...entry } = value;
  return { value: Object.fromEntries([[name, fromShorthand(entry)]]) };
}

function fromShorthand(value: Json): Json {
  return isObject(value) ? { configurable: true, ...value } : { value, configurable: true };
}

/** A parameter that is not configurable stays as it is, and none changes whether it is. */
function check(
  { parameters: before }: FilterSettings,
  { parameters: after }: FilterSettings,
): readonly Fault[] {
  return Object.entries(before).flatMap(([name, old]): readonly Fault[] => {
    const now = Object.hasOwn(after, name) ? after[name] : undefined;
    if (!old.configurable && (now?.value !== old.value || !Object.hasOwn(after, name))) {
      const detail = 'this parameter is not configurable: it can neither be changed nor removed';
      return [{ pointer: formatPointer(['parameters', name]), code: 'parameter-not-configurable', detail }];
    }
    if (now === undefined || now.configurable === old.configurable) return [];
    const pointer = formatPointer(['parameters', name, 'configurable']);
    return [
      {
        pointer,
        code: 'field-not-modifiable',
        detail: 'whether a parameter is configurable cannot be changed',
      },
    ];
  });
}

/**
 * Modifies the parameters of a filter with a JSON Patch (RFC 6902): all operations or none.
 *
 * @param snapshot - the state to start from
 * @param name - name of the filter, compared as names are; refused with `filter-not-found` when there is none
 * @param operations - the operations, over the fields of {@link FilterSettings}; adding `/parameters/<p>/value`
 *   creates a parameter that is not there, and `/parameters/<p>` takes a text for its value
 * @param context - the time and who asked
 * @returns the decision, with one `filter.updated` and one `filter.update`; refused with every fault, its pointer and
 *   its operation; unchanged when the result equals what is there
 *
 * @example
 * ```ts
 * import { createSnapshot, patchFilter } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ filters: [{ name: 'Hint', module: 'regexfilter' }] });
 * const operations = [{ op: 'add', path: '/parameters/match/value', value: 'select' }] as const;
 * patchFilter(snapshot, 'Hint', operations, { now: 0 }).outcome; // => 'accepted'
 * ```
 *
 * @public
 */
export function patchFilter(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): Decision {
  return decidePatch(settings, snapshot, name, operations, context);
}

/** @internal */
export const filterKind: Kind<FilterEvent, FilterEffect, never> = {
  fields: { filter: fields },
  events: settings.events,
  effects: settings.effects,
  reports: {},
  routes: [
    ...readRoutes({ collection: 'filters', shape: fields.representation, represent }),
    patchRoute(settings, { path: '/filter/:name', aliases: ['/filters/:name'] }),
  ],
};
