/**
 * Routes that several kinds of resources share: reading a collection, patching and stepping what is in it.
 */
import type * as z from 'zod/mini';

import { type Version, latest } from '../../core/version.ts';
import type { Context, DecisionOf, EffectBase, EventBase } from '../../core/decision.ts';
import { parseOperations } from '../../json/patch.ts';
import { patchShape, sealOperations } from '../../core/patch-view.ts';
import { ok } from '../../problem.ts';
import {
  patchMediaTypes,
  type CommandRoute,
  type ItemRoute,
  type Listing,
  type ListRoute,
  type RouteFacts,
} from '../../http/route.ts';
import { fieldNames, type ObjectShape } from '../../core/shape.ts';
import type { Rendering } from './rendering.ts';
import { lookUp, singular, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';
import { decidePatch, type Patchable } from './transition.ts';

/** What a reading route says of itself; the rest follows. @internal */
export type Reading = Pick<RouteFacts, 'id' | 'path' | 'summary'> &
  Pick<ItemRoute<Snapshot, Rendering>, 'version' | 'fieldAliases'> & {
    /** Shape of the representation, or of one element; a text when the elements are links. */
    readonly shape: ObjectShape | z.ZodMiniString;
  };

/** A route that reads one thing. @internal */
export function itemRoute(
  reading: Reading,
  read: ItemRoute<Snapshot, Rendering>['read'],
): ItemRoute<Snapshot, Rendering> {
  return {
    kind: 'item',
    method: 'GET',
    aliases: [],
    query: ['fields'],
    fields: fieldsOf(reading),
    ...reading,
    read,
  };
}

/** A route that reads a list. @internal */
export function listRoute(
  reading: Reading & Pick<RouteFacts, 'query'>,
  list: ListRoute<Snapshot, Rendering>['list'],
): ListRoute<Snapshot, Rendering> {
  return { kind: 'list', method: 'GET', aliases: [], fields: fieldsOf(reading), ...reading, list };
}

function fieldsOf({ shape, fieldAliases = {} }: Reading): readonly string[] {
  return 'shape' in shape ? [...fieldNames(shape), ...Object.keys(fieldAliases)] : [];
}

/** How the things of a collection are shown. @internal */
export interface Readable<K extends keyof Collections> extends Pick<Reading, 'fieldAliases'> {
  readonly collection: K;
  readonly shape: ObjectShape;
  represent(this: void, snapshot: Snapshot, entity: Collections[K], rendering: Rendering): object;
  /** When anything that the representation shows last changed. */
  version(this: void, snapshot: Snapshot, entity: Collections[K]): Version;
}

/** The routes `GET /<collection>/:name` and `GET /<collection>`. @internal */
export function readRoutes<K extends keyof Collections>(
  readable: Readable<K>,
): [ItemRoute<Snapshot, Rendering>, ListRoute<Snapshot, Rendering>] {
  const { collection, represent, version, ...shown } = readable;
  const item = itemRoute(
    {
      ...shown,
      id: `${collection}.get`,
      path: `/${collection}/:name`,
      summary: `Gives one ${singular[collection]}.`,
      version(snapshot, name) {
        const found = lookUp(snapshot, collection, name);
        return found.ok ? version(snapshot, found.value) : undefined;
      },
    },
    (snapshot, name, rendering) => {
      const found = lookUp(snapshot, collection, name);
      return found.ok ? ok(represent(snapshot, found.value, rendering)) : found;
    },
  );
  return [item, collectionRoute(readable)];
}

/** The route `GET /<collection>`. @internal */
export function collectionRoute<K extends keyof Collections>(
  readable: Readable<K>,
): ListRoute<Snapshot, Rendering> {
  const { collection, represent, version, ...shown } = readable;
  return listRoute(
    {
      ...shown,
      id: `${collection}.list`,
      path: `/${collection}`,
      query: ['fields', 'range'],
      summary: `Lists the ${collection}.`,
      version: (snapshot) =>
        entries(snapshot, collection, 0, Infinity).reduce(
          (newest, entity) => latest(newest, version(snapshot, entity)),
          snapshot[collection].version,
        ),
    },
    (snapshot, _subject, rendering) =>
      ok(
        listing(snapshot[collection].size, (offset, length) =>
          entries(snapshot, collection, offset, length).map((entity) =>
            represent(snapshot, entity, rendering),
          ),
        ),
      ),
  );
}

/** A listing of representations: plain objects whose members are plain JSON. @internal */
export function listing(
  total: number,
  slice: (offset: number, length: number) => readonly (object | string)[],
): Listing {
  return { total, slice: slice as Listing['slice'] };
}

function entries<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  offset: number,
  length: number,
): readonly Collections[K][] {
  return snapshot[collection].range(offset, length) as unknown as readonly Collections[K][];
}

/** The route `PATCH` of one thing. @internal */
export function patchRoute<
  K extends keyof Collections,
  T extends object,
  E extends EventBase,
  F extends EffectBase,
>(
  patchable: Patchable<K, T, E, F>,
  facts: Pick<RouteFacts, 'path' | 'aliases'>,
): CommandRoute<Snapshot, E, F, Rendering> {
  const { collection, view } = patchable;
  return {
    ...facts,
    kind: 'command',
    id: `${collection}.patch`,
    method: 'PATCH',
    query: ['dry_run'],
    about: `/${collection}/:name`,
    summary: `Modifies a ${singular[collection]} with a JSON Patch: ${Object.keys(view.fields).join(', ')}.`,
    body: { mediaTypes: patchMediaTypes, shape: patchShape },
    async command(name, body, secrets) {
      const parsed = parseOperations(body);
      if (!parsed.ok) return parsed;
      const operations = await sealOperations(view, parsed.value, secrets);
      if (!operations.ok) return operations;
      return ok((snapshot, context) => decidePatch(patchable, snapshot, name, operations.value, context));
    },
    answer(snapshot, name, rendering) {
      const found = lookUp(snapshot, collection, name);
      return found.ok ? ok(patchable.shown(snapshot, found.value, rendering.times)) : found;
    },
  };
}

/** The routes that run a lifecycle: `PUT /<singular>/:name/<command>`, and the same in the plural. @internal */
export function lifecycleRoutes<E extends EventBase, F extends EffectBase>(
  collection: keyof Collections,
  transitions: Readonly<Record<'stop' | 'start', DecideOne<E, F>>>,
): readonly CommandRoute<Snapshot, E, F, Rendering>[] {
  const kind = singular[collection];
  return (['stop', 'start'] as const).map((command) =>
    commandRoute(
      {
        id: `${collection}.${command}`,
        method: 'PUT',
        path: `/${kind}/:name/${command}`,
        aliases: [`/${collection}/:name/${command}`],
        about: `/${collection}/:name`,
        summary: `${command === 'stop' ? 'Stops' : 'Starts'} a ${kind}.`,
      },
      transitions[command],
    ),
  );
}

/** A transition about one thing that is named. @internal */
export type DecideOne<E extends EventBase, F extends EffectBase> = (
  snapshot: Snapshot,
  subject: string,
  context: Context,
) => DecisionOf<Snapshot, E, F>;

/** A route that takes no body and names what it is about. @internal */
export function commandRoute<E extends EventBase, F extends EffectBase>(
  facts: Pick<
    CommandRoute<Snapshot, E, F, Rendering>,
    'id' | 'method' | 'path' | 'aliases' | 'about' | 'summary'
  >,
  decide: DecideOne<E, F>,
): CommandRoute<Snapshot, E, F, Rendering> {
  return {
    ...facts,
    kind: 'command',
    query: ['dry_run'],
    command: (subject) => ok((snapshot, context) => decide(snapshot, subject, context)),
  };
}
