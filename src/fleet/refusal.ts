/**
 * Refusals: what a node of a fleet answers for a reason that lies with the other nodes, in sentences for the client.
 */
import type { AdminEvent } from '../resources/index.ts';
import { problemOn, refusal, type Execution, type Refusal } from '../runtime/command/execution.ts';
import { LogEnded } from '../runtime/journal/log.ts';

/** The log has records for a later version of this library. @internal */
export class NodeOutdated extends LogEnded {
  constructor(what: string, needed: number, known: number) {
    super(
      `The shared store contains ${what} of format ${String(needed)}, and this version of ` +
        `gateway-admin-core reads format ` +
        `${String(known)}. Update gateway-admin-core on this node.`,
      nodeOutdated,
    );
    this.name = 'NodeOutdated';
  }
}

/** A later process runs under the name of this node. This process must not change anything any more. @internal */
export class Superseded extends LogEnded {
  constructor(node: string) {
    super(
      `Another process has begun under the name of the node "${node}". This process refuses every command from now on. End ` +
        'one of the two, and give each process of the fleet a name of its own.',
      superseded,
    );
    this.name = 'Superseded';
  }
}

/** The other nodes of the fleet do not hear this one, and would end its commands. @internal */
export function cannotAnnounce(retryAfterMs: number): Refusal {
  const detail =
    'This node of the fleet cannot announce itself in the shared store, so the other nodes count it as silent and ' +
    'would end the command. Nothing was changed. Reading still works. Send the command to another node, or again in ' +
    'a few seconds.';
  return { ...refusal('store-unavailable', detail), retryAfterMs };
}

/** Another node of the fleet holds the resource. @internal */
export function foreignCommand(commandId: string, node: string): Refusal {
  const detail =
    `A command (${commandId}) of the node ${node} on this resource has not ended yet, so this command was refused. Nothing ` +
    'was changed. Try again in a moment.';
  return { outcome: 'refused', problem: problemOn('command-in-progress', commandId, detail), events: [] };
}

/** This gateway has not followed the fleet yet. @internal */
export function nodeBehind(link: string, reason?: string): Refusal {
  const why = reason === undefined ? '' : ` Why the gateway has not followed: ${reason}`;
  return refusal(
    'node-behind',
    `The gateway of this node has not followed a change of ${link} yet that another node has made. Nothing was changed. Try ` +
      `again in a moment, send the command to another node, or take the change back there.${why}`,
  );
}

/** Other nodes have ended the command of this node, or a set-back of the store has lost it. @internal */
export function fenced(commandId: string, events: readonly AdminEvent[]): Execution {
  const done = events.length === 0 ? '' : ' Earlier parts of the command had ended before, and stay.';
  const detail =
    'The other nodes of the fleet have ended the command because this node was silent, or the store was set back. ' +
    `What this node did is being taken back.${done} Look at the state, and send the command again.`;
  return { outcome: 'refused', problem: problemOn('fenced', commandId, detail), events };
}

const nothingChanged = 'Nothing was changed.';

function nodeOutdated(done = nothingChanged): Refusal {
  return refusal(
    'node-outdated',
    `The fleet uses a later version of the administration interface than this node. ${done} Reading still works, and the ` +
      'gateway goes on with what it last had. Send the command to another node, and update this one.',
  );
}

function superseded(done = nothingChanged): Refusal {
  return refusal(
    'closed',
    `Another process runs under the name of this node of the fleet, so this one takes no more commands. ${done} End one of ` +
      'the two, and send the command again.',
  );
}
