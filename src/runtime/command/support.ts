/**
 * Support: what the gateway of the host says that it can do while it runs.
 */
import type { GatewayPort } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import { firstPartOf } from '../../core/decision.ts';
import { namedResources, type AdminEvent, type Effect } from '../../resources/index.ts';
import type { Coordinator } from '../coordinator.ts';
import type { Acceptance } from './turn.ts';

/** What a gateway does only if it says so. @internal */
export const abilities = ['create', 'delete'] as const satisfies GatewayPort['supports'];

/** The lists that creations and deletions rest on. */
const lists: ReadonlySet<string> = new Set(namedResources.map(({ collection }) => `/${collection}`));

function isAboutMembership(link: string): boolean {
  // A host that builds its own decisions may give something else than a text.
  return lists.has(link) || /^\/services\/.+\/listeners\//.test(link);
}

/**
 * The refusal of a decision with effects that the gateway does not know, or with events that others do not know; `undefined`
 * if all are known.
 *
 * @internal
 */
export function refuseUnsupported(
  decision: Acceptance,
  { supports = [] }: Pick<GatewayPort, 'supports'>,
  others: Pick<Coordinator, 'refuseMembership'> | undefined,
): Problem | undefined {
  // A decision with parts makes them when its effects are read.
  if (!decision.resources.some(isAboutMembership)) return undefined;
  for (const { type, resource } of firstPartOf<AdminEvent, Effect>(decision).effects) {
    const ability = abilities.find((each) => type.endsWith(`.${each}`));
    if (ability === undefined) continue;
    const unknown = supports.includes(ability) ? others?.refuseMembership() : cannot(ability, resource);
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

function cannot(ability: string, resource: string): Problem {
  const detail =
    `This gateway cannot ${ability} ${resource} while it runs. ` +
    'Change the document of the gateway, and start the gateway again.';
  return problem('not-supported', detail);
}
