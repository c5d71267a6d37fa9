/**
 * The laws of standing: who may change something with a request. A user who was deleted, or was given a new password,
 * changes nothing at any node from then on. While the fleet is read-only, nobody changes anything.
 */
import { closeServiceSessions, type Snapshot } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { FleetCommand, Principal, Sent } from './answer.ts';
import { passwordAt } from './shown.ts';
import type { Chronicle } from './chronicle.ts';

/** Begins or ends the read-only mode of the fleet. */
export function modeCommand(isReadOnly: boolean): FleetCommand {
  return {
    kind: `read-only ${String(isReadOnly)}`,
    step: (snapshot) => ({ outcome: 'unchanged', next: snapshot, resources: [] }),
    changes: [],
    mode: isReadOnly,
    request: {
      method: 'PATCH',
      target: '/',
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify([
        { op: 'replace', path: '/read_only', value: isReadOnly },
        ...(isReadOnly ? [{ op: 'add', path: '/read_only_reason', value: 'The disks are changed.' }] : []),
      ]),
    },
  };
}

/** A command that changes one gateway alone. */
export function closingCommand(random: Random): FleetCommand {
  const name = random.pick(['Sales', 'Reports']);
  return {
    kind: 'service.close',
    step: (snapshot, context) => closeServiceSessions(snapshot, name, context),
    changes: [],
    request: { method: 'DELETE', target: `/services/${name}/sessions`, headers: {} },
  };
}

/** The user whose standing a command changes, and nothing else; `undefined` for other commands. */
export function userChangedBy({ changes }: FleetCommand): string | undefined {
  const [change, another] = changes;
  const [name, what] = Object.keys(change ?? {})[0]?.split(' ') ?? [];
  return what === 'password' && another === undefined ? name : undefined;
}

/** Says if a request was taken, or refused, against the standing of its caller. The answer is given now. */
export function misjudgedIn(sent: Sent, chronicle: Chronicle): readonly string[] {
  const { answer, command } = sent;
  if (answer === undefined || command.request === undefined) return [];
  const faults =
    answer.outcome === 'done' ? faultsOfTaking(sent, chronicle) : faultsOfRefusing(sent, chronicle);
  return faults.map((fault) => `${command.kind} of ${sent.actor} at ${sent.node} was ${fault}`);
}

function faultsOfTaking(
  { as, command: { mode }, isReadOnly, askedAt }: Sent,
  { moments, readOnly, modes: set, lost }: Chronicle,
): readonly string[] {
  // A set-back can take back the deletion, or the new password.
  const known = moments.slice(as?.changedAt, lost.length === 0 ? askedAt + 1 : undefined);
  const modes = readOnly.slice(askedAt);
  const isSet = mode === undefined || modes.includes(mode) || set.slice(askedAt).flat().includes(mode);
  return [
    ...(known.some((each) => isStanding(as, each))
      ? []
      : ['taken, although the user was deleted or has a new password']),
    ...(mode === undefined && isReadOnly === true && !modes.includes(false)
      ? ['taken, although the fleet is read-only']
      : []),
    ...(isSet ? [] : ['taken, and the log does not have the mode']),
  ];
}

function faultsOfRefusing(
  { as, answer, askedAt }: Sent,
  { moments, readOnly }: Chronicle,
): readonly string[] {
  const isEver = readOnly.slice(askedAt).includes(true);
  const isSame = moments.slice(askedAt).every((each) => isStanding(as, each));
  return [
    ...(answer?.code === 'read-only' && !isEver ? ['refused as read-only, and the fleet was not'] : []),
    ...(answer?.code === 'unauthenticated' && isSame
      ? ['refused, although the user has the same password']
      : []),
  ];
}

function isStanding(as: Principal | undefined, snapshot: Snapshot): boolean {
  return (
    as === undefined ||
    (snapshot.users.find(as.name) && (passwordAt(snapshot, as.name) ?? '')) === as.password
  );
}
