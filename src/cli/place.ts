/**
 * The place: on which gateway a command works. Every question and every "Done" names it.
 */
import type { Client } from '../client/index.ts';
import { valueOf } from './answer.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { addressOf } from './connection.ts';
import { safeText } from './output.ts';

/** A gateway, as its operators know it. */
export interface GatewayPlace {
  /** The name that the gateway gives itself, or its address. */
  readonly name: string;
  /** Whether a wrong step is dear: the name is typed there before something is closed or deleted. */
  readonly isProduction: boolean;
  /** Its name with its environment, or its address. */
  readonly text: string;
}

/** Finds the place. A gateway without a name, or of an earlier version, has its address. */
export async function placeOf(call: Call, client: Client): Promise<GatewayPlace> {
  const answer = await client.interface.get({ fields: ['name', 'environment'] });
  // An earlier version has no such fields, or no such path. Any other refusal could hide that this is production.
  const isEarlier = !answer.ok && ['fields-invalid', 'route-not-found'].includes(answer.problem.code);
  const given: unknown = isEarlier ? {} : valueOf(answer);
  const [name, environment] = [textIn(given, 'name'), textIn(given, 'environment')];
  const shown = safeText(name ?? addressOf(call));
  return {
    name: name ?? addressOf(call),
    isProduction: environment === 'production',
    text: environment === undefined ? shown : `${shown} (${safeText(environment)})`,
  };
}

function textIn(answer: unknown, member: string): string | undefined {
  const { [member]: text } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** Ends the command if `--confirm-name` names another gateway. */
export function assertNamed({ valueOf: optionOf }: Call, { name, text }: GatewayPlace): void {
  const given = optionOf('confirm-name');
  if (given !== undefined && given !== name)
    throw new CommandError(
      `This is ${text}, and not ${safeText(given)}. Nothing was done.`,
      exitCodes.wrongUse,
    );
}

/** Ends the command in production if `--yes` stands alone, without the name of the gateway. */
export function assertMeant({ valueOf: optionOf }: Call, { name, isProduction, text }: GatewayPlace): void {
  if (isProduction && optionOf('confirm-name') === undefined)
    throw new CommandError(
      `This is ${text}: say --confirm-name ${safeText(name)} beside --yes. Nothing was done.`,
      exitCodes.wrongUse,
    );
}
