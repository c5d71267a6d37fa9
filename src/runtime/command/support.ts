/**
 * Support: what the gateway of the host says that it can do while it runs.
 */
import type { GatewayPort } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import { firstPartOf } from '../../core/decision.ts';
import { namedResources, type AdminEvent, type Effect } from '../../resources/index.ts';
import type { Acceptance } from './turn.ts';

/** What a gateway does only if it says so. @internal */
export const abilities = ['create', 'delete'] as const satisfies GatewayPort['supports'];

/** The lists that creations and deletions rest on. */
const lists: ReadonlySet<string> = new Set(namedResources.map(({ collection }) => `/${collection}`));

/** The refusal of a decision with effects that the gateway does not know; `undefined` if it knows all of them. @internal */
export function refuseUnsupported(
  decision: Acceptance,
  { supports = [] }: Pick<GatewayPort, 'supports'>,
): Problem | undefined {
  // A decision with parts makes them when its effects are read.
  if (!decision.resources.some((link) => lists.has(link))) return undefined;
  for (const { type, resource } of firstPartOf<AdminEvent, Effect>(decision).effects) {
    const ability = abilities.find((each) => type.endsWith(`.${each}`));
    if (ability === undefined || supports.includes(ability)) continue;
    const detail =
      `This gateway cannot ${ability} ${resource} while it runs. ` +
      'Change the document of the gateway, and start the gateway again.';
    return problem('not-supported', detail);
  }
  return undefined;
}
