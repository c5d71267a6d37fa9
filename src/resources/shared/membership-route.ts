/**
 * The routes of a collection whose resources can be created and deleted.
 */
import { refusedFor, type Context, type DecisionOf } from '../../core/decision.ts';
import { definitionShape, type Fields } from '../../core/field.ts';
import { sealDefinition } from '../../core/seal.ts';
import { plainCommand, type CommandRoute, type ItemRoute } from '../../http/route.ts';
import { asObject, type Json } from '../../json/value.ts';
import { ok } from '../../problem.ts';
import type { ConfiguredEntity, State } from '../../snapshot/state.ts';
import { listValidator, taggedByList } from '../../snapshot/validator.ts';
import type { NamedResources } from './kind.ts';
import { linkOfCollection } from './look-up.ts';
import type { Membership } from './membership.ts';
import type { Surroundings } from './rendering.ts';
import { atResource, endpointOf } from './route.ts';

const shared = {
  ...plainCommand,
  kind: 'command',
  role: 'administrator',
  isAddition: true,
} as const;

/** Decides the creation of what a definition says, in the list or resource that a path names. */
type Create<S extends State, D, T> = (definition: Json, thing: T, snapshot: S, context: Context) => D;

/**
 * Completes a route that creates something from a definition in the body.
 *
 * @param fields - the fields of the definition
 * @param create - decides the creation, given the sealed definition
 * @param item - the route that shows what was created
 * @param parameter - the parameter of that route for the name in the definition
 * @internal
 */
export function creating<S extends State, D extends DecisionOf<S>, T>(
  fields: Fields,
  create: Create<S, D, T>,
  item: ItemRoute<S, Surroundings>,
  parameter: string,
) {
  return {
    ...shared,
    mediaTypes: ['application/json'],
    bodyShape: definitionShape(fields),
    answerShape: fields.representation,
    async command(parameters, body, secrets) {
      const { sealed, faults } = await sealDefinition(fields, body, secrets);
      // Each sealing gives another text.
      const asked = await sealDefinition(fields, body, { ...secrets, seal: () => Promise.resolve('set') });
      const { name } = asObject(body);
      return ok({
        decide: (snapshot, thing, context) =>
          refusedFor(faults, snapshot, create(sealed, thing, snapshot, context)),
        asked: { definition: asked.sealed },
        creates: {
          route: item,
          parameters: { ...parameters, [parameter]: typeof name === 'string' ? name : '' },
        },
      });
    },
  } as const satisfies Partial<CommandRoute<S, DecisionOf<S>, Surroundings, T>>;
}

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
): CommandRoute<S, DecisionOf<S>, Surroundings> {
  return {
    ...creating<S, DecisionOf<S>, unknown>(
      named.fields,
      (definition, _named, snapshot, context) => membership.create(named, definition, snapshot, context),
      item,
      'name',
    ),
    ...endpointOf(named, 'create'),
    summary: `Creates a ${named.singular} from its entry in a gateway document.`,
    find: () => ok(named),
    ...taggedByList(named),
    link: () => linkOfCollection(named),
  };
}

/** Creates the route `DELETE /<collection>/:name`. @internal */
export function deletionRoute<S extends State>(
  named: NamedResources<S>,
  membership: Membership<S>,
): CommandRoute<S, DecisionOf<S>, Surroundings, ConfiguredEntity> {
  const { singular, fields } = named;
  // Only what lists nothing is listed.
  const isListed = Object.keys(fields.links).length === 0;
  return {
    ...shared,
    ...endpointOf(named, 'delete'),
    search: isListed ? ['detach'] : [],
    summary: `Deletes a ${singular}.${isListed ? ' With detach=true, the lists of other resources lose it first.' : ''}`,
    ...atResource(named),
    validatorWhenGone: (snapshot) => listValidator(snapshot, named),
    ofList: named,
    command: (_parameters, _body, _secrets, _rendering, { detach: asked = 'false' }) => {
      const detach = asked === 'true';
      return ok({
        decide: (snapshot: S, thing: ConfiguredEntity, context) =>
          membership.delete(named, thing, { detach }, snapshot, context),
        asked: { detach },
      });
    },
  };
}
