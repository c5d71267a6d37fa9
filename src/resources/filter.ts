/**
 * Filters: modules that the requests of a service pass through.
 *
 * Implements the chapter "Filter" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import type { Entity } from '../core/collection.ts';
import type { Context, DecisionOf, EffectTable } from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import { oncePer } from '../core/once-per.ts';
import { isSealed, type Sealed } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { Operation, ParsedOperation } from '../json/patch.ts';
import { formatPointer, reservedToken } from '../json/pointer.ts';
import { asObject, isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Fault } from '../problem.ts';
import { linkOf } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';
import { changeEffects } from './shared/change-effect.ts';
import type { Rendering } from './shared/rendering.ts';
import { readRoutes } from './shared/route.ts';
import {
  adoptionOf,
  decidePatch,
  patchRoute,
  settingsOf,
  type UpdateEffect,
  type UpdateEvent,
} from './shared/settings.ts';
import { assertInputs, filters, type Snapshot } from './snapshot.ts';

/**
 * A parameter of a filter.
 *
 * @public
 */
export interface FilterParameter {
  /** Value of the parameter. */
  readonly value: string | Sealed;
  /** Whether a patch may change or remove the parameter. */
  readonly configurable: boolean;
}

/**
 * The settings of a filter, which a patch can modify.
 *
 * @see Gateway Administration REST Interface, "Filter".
 *
 * @public
 */
export interface FilterSettings {
  /** The parameters by name, at most 1,000. The value of a secret one is {@link Sealed}. */
  readonly parameters: Readonly<Record<string, FilterParameter>>;
}

/**
 * A filter in a snapshot.
 *
 * @public
 */
export interface Filter extends Entity {
  /** Name of the filter module. */
  readonly module: string;
  /** The settings, which a patch can modify. */
  readonly settings: FilterSettings;
}

/**
 * A filter in a response.
 *
 * @see Gateway Administration REST Interface, "Filter".
 *
 * @public
 */
export interface FilterRepresentation {
  /** Name of the filter. */
  readonly name: string;
  /** The parameters by name, at most 1,000. */
  readonly parameters: Readonly<
    Record<
      string,
      {
        /** Value of the parameter. */
        readonly value: string;
        /** Whether a patch may change or remove the parameter. */
        readonly configurable: boolean;
      }
    >
  >;
  /** Name of the filter module. */
  readonly module: string;
  /** Links of the services that use the filter, in declaration order. */
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
  /** The parameters by name, or a single parameter with its name. No parameters if left out. */
  readonly parameters?:
    | Readonly<
        Record<
          string,
          {
            /** Value of the parameter. */
            readonly value: string | Sealed;
            /** Whether a patch may change or remove the parameter; `true` if left out. */
            readonly configurable?: boolean;
          }
        >
      >
    | { readonly name: string; readonly value: string; readonly configurable?: boolean };
  /** Ignored: derived from the services. */
  readonly services?: unknown;
}

/** The event of a filter: its settings were changed. @internal */
export type FilterEvent = UpdateEvent<'filter', FilterSettings>;

/** The effect on a filter: the host must change its settings. @internal */
export type FilterEffect = UpdateEffect<'filter', FilterSettings>;

/** The decision about a filter. @internal */
export type FilterDecision = DecisionOf<Snapshot, FilterEvent, FilterEffect>;

const value = shape.text(4096);
const sealableValue = shape.sealable(4096);

const parameterOf = <S extends z.core.SomeType>(value: S) =>
  z.strictObject({ value, configurable: z.boolean() });

/** A parameter in a document, where `configurable` may be left out. */
const givenParameterOf = <V extends FilterParameter['value']>(value: z.ZodMiniType<V, V>) =>
  z.pipe(
    z.strictObject({ value, configurable: z.exactOptional(z.boolean()) }),
    z.transform(({ value, configurable = true }: { value: V; configurable?: boolean }) => ({
      value,
      configurable,
    })),
  );

const parameterName = shape.text(255).check(
  z.minLength(1),
  z.refine((name) => reservedToken([name]) === undefined, { error: 'is not allowed as a key' }),
);

/** The single-entry form in one sample of the interface. This form means a map with one entry. */
const singleEntry = z.pipe(
  z.strictObject({ name: parameterName, value, configurable: z.exactOptional(z.boolean()) }),
  z.transform(({ name, value, configurable = true }): Record<string, FilterParameter> => ({
    [name]: { value, configurable },
  })),
);

const noParameters = shape.saying('must be an object of parameters by name, each { value, configurable }');

const fields = defineFields<{
  settings: FilterSettings;
  representation: FilterRepresentation;
  document: FilterDocument;
  state: Omit<Filter, 'key' | 'revision' | 'settings'>;
}>()({
  name: { shape: shape.name },
  module: { shape: shape.text(255) },
  parameters: {
    shape: shape.mapOf(parameterOf(sealableValue)),
    accepts: z.union([shape.mapOf(givenParameterOf(sealableValue)), singleEntry], noParameters),
    open: shape.mapOf(parameterOf(value)),
    given: z.union([shape.mapOf(givenParameterOf(value)), singleEntry], noParameters),
    secretEntries: 'value',
    setting: true,
    default: {},
  },
  services: { shape: shape.links, derived: true },
});

function represent({ services }: Snapshot, filter: Filter, { times }: Rendering): object {
  return representFields(fields, {
    rest: filter,
    settings: filter.settings,
    derived: { services: servicesUsing(services, filter) },
    times,
  });
}

/** The links of the services that use a filter, in declaration order. */
function servicesUsing(services: Snapshot['services'], filter: Filter): readonly string[] {
  return servicesByFilter(services).get(linkOf('filters', filter)) ?? [];
}

/** The links of the services that use each filter, by the link of the filter. */
type ServicesByFilter = ReadonlyMap<string, readonly string[]>;

/**
 * Without this index, a list of filters would walk all services for each filter. Most snapshots share their services
 * with the snapshot before, so the index is that of the services.
 */
const servicesByFilter = oncePer((services: Snapshot['services']): ServicesByFilter => {
  const index = new Map<string, string[]>();
  for (const service of services) {
    const link = linkOf('services', service);
    for (const filter of service.settings.filters) {
      const using = index.get(filter);
      if (using === undefined) index.set(filter, [link]);
      else using.push(link);
    }
  }
  return index;
});

const changing = { ...filters, fields };
const settings = settingsOf<Snapshot, Filter, 'filter'>(changing, { represent, complete, expand, check });

/**
 * Replaces the shorthands for a parameter. A text means a parameter with this value. A parameter without `configurable`
 * is configurable.
 */
function complete(operation: ParsedOperation): ParsedOperation {
  const { op, path, value } = operation;
  const [field, name, member] = path;
  if (field !== 'parameters' || value === undefined || op === 'test') return operation;
  if (name === undefined) return { ...operation, ...fromSingleEntry(value) };
  return member === undefined ? { ...operation, value: fromShorthand(value) } : operation;
}

/** Setting the value of a missing parameter adds the parameter. */
function expand(operation: ParsedOperation, settings: JsonObject): ParsedOperation {
  const { op, path, value } = operation;
  const [field = '', name, member] = path;
  if (field !== 'parameters' || value === undefined || op !== 'add') return operation;
  if (name === undefined || member !== 'value' || path.length > 3) return operation;
  // An earlier operation may have replaced the map by any value. The validation of the result refuses that.
  const { [field]: parameters } = settings;
  const present = !isObject(parameters) || Object.hasOwn(parameters, name);
  return present ? operation : { ...operation, path: [field, name], value: { value, configurable: true } };
}

/** Replaces the single-entry form: a parameter together with its name. */
function fromSingleEntry(value: Json | undefined): { readonly value?: Json } {
  if (!isObject(value) || typeof value['name'] !== 'string') return {};
  const { name, ...entry } = value;
  return { value: Object.fromEntries([[name, fromShorthand(entry)]]) };
}

function fromShorthand(value: Json): Json {
  return isObject(value) && !isSealed(value)
    ? { ...value, ...(Object.hasOwn(value, 'configurable') ? {} : { configurable: true }) }
    : { value, configurable: true };
}

/** Refuses a change of a parameter that is not configurable, and every change of `configurable`. */
function check(
  before: FilterSettings,
  after: JsonObject,
  operations: readonly ParsedOperation[],
): readonly Fault[] {
  const present = asObject(after['parameters']);
  // To write a secret is always a change. Otherwise the answer would confirm a guess.
  const written = operations.flatMap(({ path: [map, name] }) => (map === 'parameters' ? [name] : []));
  return Object.entries(before.parameters).flatMap(([name, old]) => {
    const now = Object.hasOwn(present, name) ? asObject(present[name]) : undefined;
    const isWritten = isSealed(old.value) && written.includes(name);
    return changeFaults(['parameters', name], old, now, isWritten || now?.['value'] !== old.value);
  });
}

/** Whether a value is a parameter of a filter with a sealed value. @internal */
export function isSealedParameter({ value, configurable }: JsonObject): boolean {
  return isSealed(value) && typeof configurable === 'boolean';
}

function changeFaults(
  place: readonly string[],
  old: FilterParameter,
  now: JsonObject | undefined,
  isChanged: boolean,
): readonly Fault[] {
  if (!old.configurable && isChanged) {
    const detail = 'is not configurable: a patch can neither change nor remove this parameter';
    return [{ pointer: formatPointer(place), code: 'parameter-not-configurable', detail }];
  }
  if (now === undefined || (now['configurable'] ?? old.configurable) === old.configurable) return [];
  const pointer = formatPointer([...place, 'configurable']);
  return [
    {
      pointer,
      code: 'field-not-modifiable',
      detail: 'cannot be modified: only the gateway decides whether a parameter is configurable',
    },
  ];
}

/**
 * Modifies the parameters of a filter with a JSON Patch (RFC 6902): all operations, or none.
 *
 * Unchanged if the result equals the present parameters. Refused with `filter-not-found` if there is no such filter,
 * and with every fault of the patch otherwise; each fault has its pointer and its operation.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the filter, compared by {@link nameKey}
 * @param operations - the operations, on the fields of {@link FilterSettings}. Adding `/parameters/<p>/value` creates a
 *   missing parameter, and `/parameters/<p>` accepts a text as the value of the parameter. The value of a secret
 *   parameter is `{ sealed }` with the text of a {@link SecretSealer}
 * @param context - the time and the caller
 * @returns the decision, with one `filter.updated` and one `filter.update`
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
 * @see Gateway Administration REST Interface, "Filter"; docs/patching.md.
 *
 * @public
 */
export function patchFilter(
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): FilterDecision {
  assertInputs(snapshot, context);
  return decidePatch(settings, snapshot, name, operations, context);
}

/** The kind "filter". @internal */
export const filterKind: Kind<Snapshot, FilterEvent, FilterEffect, never> = {
  fields: { filter: fields },
  events: settings.events,
  effects: changeEffects(changing) as EffectTable<FilterEffect>,
  reports: {},
  resources: { ...changing, adoption: adoptionOf(settings) },
  routes: [
    ...readRoutes(filters, { shape: fields.representation, represent }),
    patchRoute(settings, ['/filters/:name']),
  ],
};
