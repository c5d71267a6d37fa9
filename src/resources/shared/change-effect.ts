/**
 * The effects of changes, for every kind. Such an effect is undone by the opposite one, which leads back.
 */
import type { EffectBase, EffectTable } from '../../core/decision.ts';
import { inverse } from '../../core/change.ts';
import { updateBetween } from '../../core/update.ts';
import type { JsonObject } from '../../json/value.ts';
import { quoted } from '../../problem.ts';
import { find, type State } from '../../snapshot/state.ts';
import type { Changing } from './kind.ts';
import { linksOf, openOn } from './use.ts';

/** An effect of a change. The compiler loses the computed member with the key of the resource. */
type ChangeEffect = EffectBase & { readonly from?: JsonObject; readonly to?: JsonObject };

/** The effect of another type that leads back. @internal */
export function leadingBack<F extends EffectBase>(effect: EffectBase, type: F['type']): F {
  return { ...inverse(effect as ChangeEffect), type } as EffectBase as F;
}

/**
 * Gives the effects of the changes of a kind.
 *
 * @internal
 */
export function changeEffects<S extends State>(changing: Changing<S>): EffectTable<EffectBase> {
  const { singular: kind, fields } = changing;
  const keyIn = (effect: object): string => (effect as Readonly<Record<string, string>>)[kind] ?? '';
  const undoBy = (verb: string) => (effect: ChangeEffect) => leadingBack(effect, `${kind}.${verb}`);
  const membership = {
    [`${kind}.create`]: {
      aspect: 'membership',
      undo: undoBy('delete'),
      settlesFirst: true,
      // Nobody has looked yet at a server that is there again.
      confirms: (effect: ChangeEffect) =>
        effect.to?.['status'] && { type: `${kind}.reported`, [kind]: keyIn(effect), status: [] },
    },
    [`${kind}.delete`]: {
      aspect: 'membership',
      undo: undoBy('create'),
      deletes: true,
      undoRestsOn: ({ from = {} }: ChangeEffect) => linksOf(changing, { settings: from }),
      obstacle(snapshot: State, effect: ChangeEffect) {
        const thing = find(snapshot, changing, keyIn(effect));
        const open = thing && openOn(snapshot, changing, thing);
        return open && `The ${kind} ${quoted(thing.name)} ${open.detail}.`;
      },
    },
  };
  const update = {
    aspect: 'settings',
    undo: ({ from = {}, to = {}, ...effect }: ChangeEffect) => ({
      ...effect,
      ...updateBetween(fields, to, from),
    }),
  };
  // A start of what has failed stands: it was wanted before.
  const startOrStop = (verb: string) => (effect: ChangeEffect) =>
    effect.from?.['state'] === effect.to?.['state'] ? undefined : undoBy(verb)(effect);
  const states = {
    [`${kind}.start`]: {
      aspect: 'state',
      undo: startOrStop('stop'),
      confirms: (effect: ChangeEffect) => ({
        type: `${kind}.reported`,
        [kind]: keyIn(effect),
        state: 'started',
      }),
    },
    [`${kind}.stop`]: { aspect: 'state', undo: startOrStop('start') },
  };
  const hasState = fields.all.some(({ name, wanted }) => name === 'state' && wanted !== undefined);
  const rows = { ...membership, [`${kind}.update`]: update, ...(hasState ? states : {}) };
  return rows as unknown as EffectTable<EffectBase>;
}
