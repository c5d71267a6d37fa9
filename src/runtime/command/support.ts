/**
 * Support: what the gateway of the host says that it can do while it runs.
 */
import { verbOf } from '../../core/change.ts';
import type { GatewayPort } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import { sameJson } from '../../json/value.ts';
import type { Effect } from '../../resources/index.ts';
import type { AnyDrain } from '../../resources/shared/drain.ts';
import type { Acceptance } from './turn.ts';

/** What a gateway does only if it says so. @internal */
export const abilities = ['create', 'delete', 'drain'] as const satisfies GatewayPort['supports'];

type Ability = (typeof abilities)[number];

/**
 * The refusal of a decision that creates or deletes, if the gateway does not support that.
 *
 * @internal
 */
export function refuseUnsupported(
  decision: Acceptance,
  host: Pick<GatewayPort, 'supports'>,
): Problem | undefined {
  for (const effect of decision.effects) {
    const ability = abilityFor(effect);
    if (ability === undefined) continue;
    const problem = refuseAbility(ability, effect.resource, host);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** As {@link refuseUnsupported}, before there is a decision. @internal */
export function refuseAbility(
  ability: Ability,
  what: string,
  { supports = [] }: { readonly supports?: readonly Ability[] },
): Problem | undefined {
  return supports.includes(ability) ? undefined : cannot(ability, what);
}

/** What a gateway must be able to do for an effect; `undefined` if every gateway is. */
function abilityFor(effect: Effect): Ability | undefined {
  const verb = verbOf(effect);
  if (verb === 'create' || verb === 'delete') return verb;
  if (effect.type !== 'service.update' && effect.type !== 'server.update') return undefined;
  const [before, after]: readonly (AnyDrain | undefined)[] = [effect.from.drain, effect.to.drain];
  // Every gateway can end a drain: a document or a store can have one that the gateway does not know.
  return after === undefined || sameJson({ ...before }, { ...after }) ? undefined : 'drain';
}

const startAgain =
  'Change the document of the gateway, and start the gateway again. A gateway with a store takes the document over only ' +
  'with the option adopt of openAdmin.';

/** What to do instead. */
const insteadOf: Readonly<Record<Ability, string>> = {
  create: startAgain,
  delete: startAgain,
  drain: 'Stop the service, or set the server to maintenance, and close what is left later.',
};

function cannot(ability: Ability, what: string): Problem {
  const detail = `This gateway cannot ${ability} ${what} while it runs. ${insteadOf[ability]}`;
  return problem('not-supported', detail);
}
