/**
 * Stored secrets: the names of secret parameters in the content of a store, and the refusal of a store that has the
 * plain text of such a parameter.
 */
import { maxListedFaults } from '../../problem.ts';
import { evolve, namedResources, type AdminEvent } from '../../resources/index.ts';
import { entriesOf, isSecretIn, secretKeys } from '../../snapshot/secret-parameter.ts';
import { isDeletion } from './entry-event.ts';
import type { Snapshot } from '../../resources/snapshot.ts';

/**
 * Gives the names of secret parameters, as {@link nameKey} folds them: the names that are declared, and the names of
 * which the store contains a sealed parameter.
 *
 * @param snapshot - the stored configuration, with the declared names
 * @param inFlight - the events of each command in flight
 * @throws Error if the store contains the plain text of such a parameter. Nothing was changed in the store
 * @internal
 */
export function storedSecretParameters(
  snapshot: Snapshot,
  inFlight: readonly (readonly AdminEvent[])[],
): readonly string[] {
  // A command in flight can still bring what it leads to.
  const comings = inFlight.map((events) => events.filter((event) => !isDeletion(event)));
  const states = [snapshot, ...comings.map((events) => evolve(snapshot, events))].map((state) =>
    entriesOf(state, namedResources),
  );
  const { secretParameters: declared = [] } = snapshot;
  const names = new Set(states.flatMap((entries) => secretKeys(entries, declared)));
  const secretParameters = Object.freeze([...names].toSorted());
  const isSecret = isSecretIn({ secretParameters });
  const plain = states
    .flat()
    .filter(({ name, isSealed }) => !isSealed && isSecret(name))
    .map(({ resource, map, name }) => `${resource}: ${map}, ${JSON.stringify(name)}`);
  if (plain.length > 0) throw new Error(explain([...new Set(plain)]));
  return secretParameters;
}

function explain(plain: readonly string[]): string {
  const places = plain.slice(0, maxListedFaults);
  const more = plain.length > places.length ? [`and ${String(plain.length - places.length)} more`] : [];
  return [
    'The store contains the plain text of parameters that are declared secret:',
    ...places.map((place) => `  ${place}`),
    ...more.map((line) => `  ${line}`),
    'Nothing was changed. Start without these names in secretParameters, and remove the parameters. Then start with the ' +
      'names, and set the parameters again. Use new secrets, because the old ones were stored in plain text.',
  ].join('\n');
}
