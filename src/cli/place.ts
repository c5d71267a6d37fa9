/**
 * The place: on which gateway a command works, and the name that a person types there. Every question and every "Done"
 * names the place.
 */
import { nameToType, type ActId, type Client } from '../client/index.ts';
import { valueOf } from './answer.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { addressOf } from './connection.ts';
import { contextIn } from './context-file.ts';
import { safeText } from './output.ts';
import { wordOf } from './subject.ts';

/** A gateway, as its operators know it. */
export interface GatewayPlace {
  /** The name that the gateway gives itself, or its address. */
  readonly name: string;
  readonly environment: string | undefined;
  /** Its name with its environment, or its address. */
  readonly text: string;
  /** The name of the context that has led here; a context in use holds for all terminals of a user. */
  readonly context: string | undefined;
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
    environment,
    context: contextIn(call)?.name,
    text: environment === undefined ? shown : `${shown} (${safeText(environment)})`,
  };
}

function textIn(answer: unknown, member: string): string | undefined {
  const { [member]: text } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** A change, as far as its name is concerned. */
interface Named {
  readonly act: ActId;
  /** The name of what the change is about; left out for the gateway as a whole. */
  readonly subject?: { readonly name: string };
}

/**
 * The name that stands for a change: a person types it in production, and `--confirm-name` has it.
 *
 * @returns `undefined` if nothing is typed
 */
export function nameFor(
  { act, subject }: Named,
  { name: gateway, environment }: Omit<GatewayPlace, 'text'>,
): string | undefined {
  return nameToType(act, { subject: subject?.name, gateway, environment });
}

/** Ends the command if `--confirm-name` has another name, or if `--yes` stands alone where the name is needed. */
export function assertConfirmed(call: Call, change: Named, place: GatewayPlace): void {
  const given = call.valueOf('confirm-name');
  const typed = nameFor(change, place);
  const wanted = nameFor(change, { ...place, environment: 'production' }) ?? place.name;
  const wrong = (what: string): CommandError =>
    new CommandError(`This is ${place.text}: ${what}. Nothing was done.`, exitCodes.wrongUse);
  if (given !== undefined && given !== wanted)
    throw wrong(`--confirm-name must be ${safeText(wanted)}, and not ${safeText(given)}`);
  if (call.has('yes') && typed !== undefined && given === undefined)
    throw wrong(`say --confirm-name ${wordOf(typed)} beside --yes`);
}
