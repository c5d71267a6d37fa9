/**
 * The place: on which gateway a command works, and the name that a person types there. Every question and every "Done"
 * names the place.
 */
import { acts, nameToType, type ActId, type Client } from '../client/index.ts';
import type { FleetNodeRepresentation } from '../resources/fleet.ts';
import { valueOrEnd } from './answer.ts';
import { wrongUse, type Call, type CommandError } from './command.ts';
import { contextIn, urlOf } from './context.ts';
import { wordOf, type Subject } from './kind.ts';
import { counted, safeText } from './output.ts';

/** A gateway, as its operators know it. */
export interface GatewayPlace {
  /** The name that the gateway gives itself, or its address. */
  readonly name: string;
  readonly environment: string | undefined;
  /** Its name with its environment, or its address. */
  readonly text: string;
  /** The name of the context that has led here; a context in use holds for all terminals of a user. */
  readonly context: string | undefined;
  /** The nodes of the fleet, that of the gateway first; none without a fleet. */
  readonly nodes: readonly Pick<FleetNodeRepresentation, 'node' | 'alive'>[];
}

/** Finds the place. A gateway without a name, or of an earlier version, has its address. */
export async function placeOf(call: Call, client: Client): Promise<GatewayPlace> {
  const answer = await client.interface.get({ fields: ['name', 'environment'] });
  // An earlier version has no such fields, or no such path. Any other refusal could hide that this is production.
  const isEarlier = !answer.ok && ['fields-invalid', 'route-not-found'].includes(answer.problem.code);
  const given: unknown = isEarlier ? {} : valueOrEnd(answer);
  const [name, environment] = [textIn(given, 'name'), textIn(given, 'environment')];
  const shown = safeText(name ?? urlOf(call).host);
  return {
    name: name ?? urlOf(call).host,
    environment,
    context: contextIn(call)?.name,
    nodes: await nodesOf(client),
    text: environment === undefined ? shown : `${shown} (${safeText(environment)})`,
  };
}

async function nodesOf(client: Client): Promise<GatewayPlace['nodes']> {
  const answer = await client.fleet.list({ fields: ['node', 'alive'] });
  // An earlier version has no such path. A rule for access can be stricter than that of the library.
  const isUnknown = !answer.ok && ['route-not-found', 'forbidden'].includes(answer.problem.code);
  const nodes = isUnknown ? [] : valueOrEnd(answer).elements;
  // A single node is a gateway as any other.
  return nodes.length > 1 ? nodes : [];
}

/** Where an act changes something: on the gateway, on all nodes of its fleet, or at the node that is asked alone. */
export function whereText(act: ActId, { text, name, nodes }: GatewayPlace): string {
  const [own] = nodes;
  const { scope } = acts[act];
  if (own === undefined) return `on ${text}`;
  if (scope === 'fleet') return `in the fleet of ${text}`;
  if (scope === 'nodes') return `on all ${String(nodes.length)} nodes through ${text}`;
  return `at node ${own.node === name ? '' : `${safeText(own.node)} of `}${text}`;
}

/** Where a change of all nodes counts its sessions: ` at node one`; empty if the change itself names the node. */
export function atNode(act: ActId, { nodes: [own] }: GatewayPlace): string {
  return own === undefined || acts[act].scope === 'node' ? '' : ` at node ${safeText(own.node)}`;
}

/** What a change means for the other nodes of a fleet; empty if nothing. */
export function othersText(act: ActId, { nodes }: GatewayPlace): readonly string[] {
  const { scope, typed } = acts[act];
  // What one node does to a resource is to close what is open there.
  if (nodes.length > 0 && scope === 'node' && typed === 'subject')
    return [`What is open at the ${counted(nodes.length - 1, 'other node')} stays.`];
  const silent = scope === 'nodes' ? nodes.filter(({ alive }) => !alive) : [];
  const names = safeText(silent.map(({ node }) => node).join(', '));
  if (silent.length === 0) return [];
  return silent.length === 1
    ? [`Node ${names} is silent, and follows when it is back.`]
    : [`Nodes ${names} are silent, and follow when they are back.`];
}

function textIn(answer: unknown, member: string): string | undefined {
  const { [member]: text } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** A change, as far as its name is concerned. */
interface Named {
  readonly act: ActId;
  /** What the change is about; left out for the gateway as a whole. */
  readonly subject?: Subject;
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
  const wrong = (what: string): CommandError => wrongUse(`This is ${place.text}: ${what}. Nothing was done.`);
  if (given !== undefined && given !== wanted)
    throw wrong(`--confirm-name must be ${safeText(wanted)}, and not ${safeText(given)}`);
  if (call.has('yes') && typed !== undefined && given === undefined)
    throw wrong(`say --confirm-name ${wordOf(typed)} beside --yes`);
}
