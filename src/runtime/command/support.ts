/**
 * Support: what the gateway of the host says that it can do while it runs.
 */
import type { GatewayPort } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import type { Effect } from '../../resources/index.ts';

/** What a gateway does only if it says so. @internal */
export const abilities = ['create', 'delete'] as const satisfies GatewayPort['supports'];

/** The refusal of effects that the gateway does not know; `undefined` if it knows all of them. @internal */
export function refuseUnsupported(
  effects: readonly Effect[],
  { supports = [] }: Pick<GatewayPort, 'supports'>,
): Problem | undefined {
  for (const { type, resource } of effects) {
    const ability = abilities.find((each) => type.endsWith(`.${each}`));
    if (ability === undefined || supports.includes(ability)) continue;
    const detail =
      `This gateway cannot ${ability} ${resource} while it runs. ` +
      'Change the document of the gateway, and start the gateway again.';
    return problem('not-supported', detail);
  }
  return undefined;
}
