/**
 * The judge: plays the steps again on a stage of its own, lets everything come to rest, and holds it against the laws of
 * the scenarios. So the world itself goes on undisturbed.
 */
import { fleetFaultsAtRest } from '../../tests/scenario/fleet-law.ts';
import { faultsAtRest } from '../../tests/scenario/law.ts';
import { judge as judgeSteps } from '../../tests/scenario/scenario-world.ts';
import type { Charge, Verdict } from './message.ts';
import { seed } from './seed.ts';

export async function judge({ seed: number, steps }: Charge): Promise<Verdict> {
  seed(number);
  return { steps, faults: await faultsOf(steps) };
}

/** What is wrong once everything has come to rest after some steps. */
export function faultsOf(steps: readonly string[]): Promise<readonly string[]> {
  const isFleet = steps.some((text) => ofFleet.test(text));
  // Roles are of names.
  const told = steps.some((text) => text.startsWith('roles')) ? steps : withOwnNames(steps);
  return judgeSteps(told, isFleet ? fleetFaultsAtRest : faultsAtRest);
}

/** Steps that only a fleet has: they name a node. */
const ofFleet = /^(?:[a-z] |start [a-z]\b|[\w-]+@)/;

const request = /^(?!nobody\b)([\w-]+)(?=(?:@[a-z]+)?(?: with .*)?: [A-Z]+ \/)/;
const isReading = /: (?:GET |[A-Z]+ [^ ]*[?&]dry_run=true)/;

/** The laws know a command by its client: each command has a client of its own, who has looked before. */
function withOwnNames(steps: readonly string[]): readonly string[] {
  const names = new Map<string, string>();
  /** The clients with a command: a later one is another client. */
  const before = new Map<string, string>();
  let count = 0;
  return steps.map((text) => {
    const referring = text.replace(
      /\{([\w-]+)\}/g,
      (all, client: string) => `{${before.get(client) ?? all.slice(1, -1)}}`,
    );
    const [, client] = request.exec(text) ?? [];
    if (client === undefined) return referring;
    const name = names.get(client) ?? `c${String((count += 1))}`;
    names.set(client, name);
    if (!isReading.test(text)) {
      names.delete(client);
      before.set(client, name);
    }
    return referring.replace(request, name);
  });
}
