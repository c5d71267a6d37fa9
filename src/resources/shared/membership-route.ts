/**
 * The routes of a collection whose resources can be created and deleted.
 */
import type { DecisionOf, EffectBase, EventBase } from '../../core/decision.ts';
import { asClientsDefine, definitionShape, sealDefinition } from '../../core/definition-seal.ts';
import { commandQuery, type CommandRoute, type ItemRoute } from '../../http/route.ts';
import { isObject, type Json } from '../../json/value.ts';
import { ok } from '../../problem.ts';
import { linkOf, shownVersion, type Settled, type State } from '../../snapshot/state.ts';
import type { NamedResources } from './kind.ts';
import { finder } from './look-up.ts';
import type { Membership } from './membership.ts';
import type { Surroundings } from './rendering.ts';
import { collectionVersion, endpointOf } from './route.ts';

type Decision<S> = DecisionOf<S, EventBase, EffectBase>;

const shared = {
  kind: 'command',
  role: 'administrator',
  isAddition: true,
  aliases: [],
  query: commandQuery,
  fields: [],
} as const;

/**
 * Creates the route `POST /<collection>`.
 *
 * @param item - the route that shows a resource of the collection
 * @internal
 */
export function creationRoute<S extends State>(
  named: NamedResources<S>,
  membership: Membership<S>,
  item: ItemRoute<S, Surroundings>,
): CommandRoute<S, Decision<S>, Surroundings> {
  const { collection, singular, fields } = named;
  return {
    ...shared,
    ...endpointOf(named, 'create'),
    search: [],
    mediaTypes: ['application/json'],
    summary: `Creates a ${singular}.`,
    bodyShape: definitionShape(fields),
    answerShape: fields.representation,
    find: () => ok(named),
    version: (snapshot) => collectionVersion(snapshot, named),
    link: () => `/${collection}`,
    async command(_parameters, body, secrets) {
      const sealed = await sealDefinition(fields, body, secrets);
      if (!sealed.ok) return sealed;
      // Each sealing gives another text.
      const asked = await sealDefinition(fields, body, { ...secrets, seal: () => Promise.resolve('set') });
      return ok({
        decide(snapshot: S, _named, context) {
          const decision = membership.create(named, sealed.value, snapshot, context);
          if (decision.outcome !== 'refused') return decision;
          return { ...decision, problem: asClientsDefine(fields, decision.problem) };
        },
        ...(asked.ok ? { asked: { definition: asked.value } } : {}),
        creates: { route: item, parameters: { name: nameIn(body) } },
      });
    },
  };
}

/** Creates the route `DELETE /<collection>/:name`. @internal */
export function deletionRoute<S extends State>(
  named: NamedResources<S>,
  membership: Membership<S>,
): CommandRoute<S, Decision<S>, Surroundings, Settled> {
  const { collection, singular } = named;
  return {
    ...shared,
    ...endpointOf(named, 'delete'),
    search: ['detach'],
    mediaTypes: [],
    summary: `Deletes a ${singular}.`,
    find: finder(named),
    version: (snapshot, thing) => shownVersion(snapshot, collection, thing),
    versionWhenGone: (snapshot) => collectionVersion(snapshot, named),
    link: (thing) => linkOf(collection, thing),
    command: (_parameters, _body, _secrets, _rendering, { detach: asked = 'false' }) => {
      const detach = asked === 'true';
      return ok({
        decide: (snapshot: S, thing: Settled, context) =>
          membership.delete(named, thing, { detach }, snapshot, context),
        asked: { detach },
      });
    },
  };
}

function nameIn(definition: Json): string {
  const { name } = isObject(definition) ? definition : {};
  return typeof name === 'string' ? name : '';
}
