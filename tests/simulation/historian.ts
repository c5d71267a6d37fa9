/**
 * Clients that undo what others have done, and bring back the configuration of an earlier moment.
 */
import { evolve, revert, sequence, type AdminEvent } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { restoreConfiguration } from '../support/internal.ts';
import type { Asked } from './answer.ts';
import { founded, inSteps } from './founder.ts';
import { isReversible, isStartOrStop, type Ledger, type SettledCommand } from './ledger.ts';
import type { Heard } from './life.ts';
import { fieldsOf, type Change } from './model.ts';

/** What a client wants to undo, or to restore. */
interface Wanted {
  readonly command: SettledCommand;
  readonly how: 'undo' | 'restore';
  /** How many commands had settled when the client asked. */
  readonly settled: number;
}

export class Historian {
  readonly faults: string[] = [];
  /** How often each answer was given. */
  readonly seen: Record<string, number> = {};
  readonly #random: Random;
  readonly #ledger: Ledger;
  readonly #wanted = new Map<Asked, Wanted>();

  constructor(random: Random, ledger: Ledger) {
    this.#random = random;
    this.#ledger = ledger;
  }

  /** Sometimes, a client wants a command to be undone, or the configuration that the command has made. */
  next(): Asked | undefined {
    const random = this.#random;
    const commands = this.#ledger.commands.slice(-12);
    if (commands.length === 0 || random.chance(0.4)) return undefined;
    const command = random.pick(commands);
    const how = random.chance(0.25) ? 'restore' : 'undo';
    const asked = how === 'undo' ? this.#undo(command) : this.#restoring(command);
    this.#wanted.set(asked, { command, how, settled: this.#ledger.commands.length });
    return asked;
  }

  /** A client is answered. */
  hear({ asked, actor, answer }: Pick<Heard, 'asked' | 'actor' | 'answer'>): void {
    const wanted = this.#wanted.get(asked);
    if (wanted === undefined) return;
    const { how } = wanted;
    const key = `${how} ${answer.code ?? answer.outcome}`;
    this.seen[key] = (this.seen[key] ?? 0) + 1;
    if (how === 'restore' && answer.code === 'undo-refused') this.faults.push(`${asked.kind} was refused`);
    if (how === 'undo') this.#judge(wanted, { asked, actor, answer });
  }

  #judge(
    { command, settled }: Wanted,
    { asked, actor, answer }: Pick<Heard, 'asked' | 'actor' | 'answer'>,
  ): void {
    const ledger = this.#ledger;
    const say = (text: string): void => {
      this.faults.push(`${asked.kind} ${text}`);
    };
    // Something may be open on what the command has created.
    const isUsable = command.events.some(({ type }) => /^(?:service|server)\.created$/.test(type));
    const mayRefuse = isUsable || this.#ledger.leavesAll(command) || this.#isTouched(command);
    if (answer.code === 'undo-refused' && isReversible(command) && !mayRefuse)
      say('was refused, and nothing has changed its resources since');
    if (answer.outcome !== 'done') return;
    if (!isReversible(command)) say('was done, and cannot be taken back');
    const undo = ledger.commands.findIndex(({ events }) => events[0]?.actor === actor);
    // An undo that changes nothing has no place among the commands: it was decided after the client asked.
    const until = undo < 0 ? settled : undo;
    for (const event of command.events.filter(isStartOrStop))
      for (const id of ledger.turnsAfter(command, event.resource, until))
        say(`was done, although ${id} has turned ${event.resource} since`);
    for (const { resource } of command.events)
      for (const id of ledger.deletionsAfter(command, resource, until))
        say(`was done, although ${id} has deleted ${resource} since`);
  }

  /** Whether what a command had created was taken back with everything else. */
  #isTakenBack(command: SettledCommand): boolean {
    return command.events.some(({ type }) => type.endsWith('.created')) && this.#ledger.leavesAll(command);
  }

  /** Whether a later command has changed a resource of a command, or one that it names, and has not taken that back. */
  #isTouched(command: SettledCommand): boolean {
    const { commands } = this.#ledger;
    const own = command.events.map(textOf);
    const later = commands.slice(commands.indexOf(command) + 1).filter((each) => !this.#isTakenBack(each));
    const events = later.flatMap((each) => each.events);
    return events.some((event) =>
      own.some(({ link, text }) => textOf(event).text.includes(link) || text.includes(textOf(event).link)),
    );
  }

  #undo(command: SettledCommand): Asked {
    const events = isReversible(command) ? this.#ledger.changesOf(command).toReversed() : [];
    const stepsBack = (): readonly Change[] => (isReversible(command) ? this.#stepsBack(command) : []);
    return {
      kind: `undo of ${command.id}`,
      step: sequence(...events.map((event) => revert(event))),
      // The command may have further parts, which settle before the undo has its turn.
      get changes() {
        return stepsBack();
      },
      request: { method: 'PUT', target: `/history/${encodeURIComponent(command.id)}/undo`, headers: {} },
      mostEffects: events.length,
    };
  }

  /** What clients see after each step of an undo: a step stands alone if the gateway refuses the others. */
  #stepsBack(command: SettledCommand): readonly Change[] {
    let before = this.#ledger.snapshotBefore(command);
    const steps = command.events.map((event) => {
      const after = evolve(before, [event]);
      const [then, now] = [fieldsOf(before), fieldsOf(after)];
      before = after;
      const changed = [...new Set([...then.keys(), ...now.keys()])].filter(
        (field) => then.get(field) !== now.get(field),
      );
      return Object.fromEntries(changed.map((field) => [field, then.get(field)]));
    });
    return steps.toReversed();
  }

  #restoring(command: SettledCommand): Asked {
    const then = this.#ledger.snapshotAfter(command);
    const fields = [...fieldsOf(then)].filter(([field]) => !field.endsWith(' password'));
    // A listener that differs goes before it comes, and so does what has another protocol, module or router.
    const gone = fields.filter(([field]) => field.includes(' listens ')).map(([field]) => [field, undefined]);
    return {
      kind: `restore of ${command.id}`,
      step: (snapshot, context) => restoreConfiguration(snapshot, then, context),
      changes: [
        { ...founded, ...Object.fromEntries(gone) } as Change,
        ...inSteps({ ...founded, ...Object.fromEntries(fields) }),
      ],
      request: { method: 'PUT', target: `/history/${encodeURIComponent(command.id)}/restore`, headers: {} },
      mostEffects: 30,
    };
  }
}

/** An event as a text that has the links of all resources that it names. */
function textOf(event: AdminEvent): { readonly link: string; readonly text: string } {
  return { link: event.resource.toLowerCase(), text: JSON.stringify(event).toLowerCase() };
}
