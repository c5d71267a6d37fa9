/**
 * Support: what the gateway of the host says that it can do while it runs.
 */
import type { GatewayPort } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import { firstPartOf } from '../../core/decision.ts';
import { namedResources, type AdminEvent, type Effect } from '../../resources/index.ts';
import { linkOfCollection } from '../../resources/shared/look-up.ts';
import type { Coordinator } from '../coordinator.ts';
import type { Acceptance } from './turn.ts';

/** What a gateway does only if it says so. @internal */
export const abilities = ['create', 'delete'] as const satisfies GatewayPort['supports'];

/** The links of the collections on which creations and deletions rest. */
const collections: ReadonlySet<string> = new Set(namedResources.map(linkOfCollection));

function isAboutMembership(link: string): boolean {
  // A host that builds its own decisions may give something else than a text.
  return collections.has(link) || /^\/services\/.+\/listeners\//.test(link);
}

/**
 * The refusal of a decision that creates or deletes, if the gateway does not support that or the other nodes cannot
 * follow; `undefined` if all can.
 *
 * @internal
 */
export function refuseUnsupported(
  decision: Acceptance,
  { supports = [] }: Pick<GatewayPort, 'supports'>,
  coordinator: Pick<Coordinator, 'refuseMembership'> | undefined,
): Problem | undefined {
  // The first part of a long teardown is made when its effects are read.
  if (!decision.resources.some(isAboutMembership)) return undefined;
  for (const { type, resource } of firstPartOf<AdminEvent, Effect>(decision).effects) {
    const ability = abilities.find((each) => type.endsWith(`.${each}`));
    if (ability === undefined) continue;
    const problem = supports.includes(ability) ? coordinator?.refuseMembership() : cannot(ability, resource);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function cannot(ability: string, resource: string): Problem {
  const detail =
    `This gateway cannot ${ability} ${resource} while it runs. ` +
    'Change the document of the gateway, and start the gateway again.';
  return problem('not-supported', detail);
}
