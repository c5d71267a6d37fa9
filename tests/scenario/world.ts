/**
 * Worlds: scenarios at random, and the laws at their ends. A world that fails is told as a scenario, with as few steps as
 * show the fault.
 */
import { createRandom, type Random } from 'gateway-admin-core/testing';

import { formatLink } from '../../examples/playground/link.ts';
import { drawTheme, type Known, type Theme } from './random.ts';
import { writeScenario, type Step } from './scenario.ts';
import { shrink, simplify } from './shrink.ts';
import { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** A kind of worlds. */
export interface Kind {
  /** What happens first, in units of steps that stay together. */
  readonly begin: (random: Random) => readonly (readonly string[])[];
  /** Draws the next unit. */
  readonly draw: (random: Random, known: Known, number: number) => readonly string[];
  /** A unit in simpler forms. */
  readonly simpler: (unit: readonly string[]) => readonly (readonly string[])[];
  /** What has gone wrong that must never go wrong. Nothing fails any more, and everybody is waited for. */
  readonly faults: (stage: Stage, steps: readonly Step[]) => Promise<readonly string[]>;
}

interface World {
  /** Steps that stay together. */
  readonly units: readonly (readonly Step[])[];
  readonly faults: readonly string[];
}

const length = 40;
/** How many faults of a world are told: the first one often leads to all others. */
const most = 5;

/** Runs the world of a seed. Gives the scenario that shows what went wrong that must never go wrong. */
export async function simulateWorld(kind: Kind, seed: number): Promise<readonly string[]> {
  const world = await draw(kind, seed);
  if (world.faults.length === 0) return [];
  const laws = new Set(world.faults.map(lawOf));
  const texts = world.units.map((unit) => unit.map(({ text }) => text));
  const fails = async (some: readonly (readonly string[])[]): Promise<boolean> =>
    (await replay(kind.faults, some)).faults.some((fault) => laws.has(lawOf(fault)));
  const smallest = async (): Promise<World> =>
    replay(kind.faults, await simplify(await shrink(texts, fails), kind.simpler, fails));
  const small = (await fails(texts)) ? await smallest() : world;
  const scenario = writeScenario({
    kind: 'scenario',
    title: `The world of seed ${String(seed)}.`,
    lines: small.units.flat(),
  });
  return [
    `${String(texts.flat().length)} steps, of which these show the fault:`,
    scenario,
    `To play it: examples/dist/playground/index.html#?${await linkOf(small)}`,
    ...small.faults.slice(0, most),
  ];
}

/** The playground with the steps of a world, as they were named. */
function linkOf({ units }: World): Promise<string> {
  const steps = units.flat().map(({ text }) => text);
  return formatLink({ seed: 1, steps, done: steps.length });
}

/** The law that was broken: a fault without the names in it. */
function lawOf(fault: string): string {
  return fault.replace(
    /\b(?:PUT|POST|PATCH|DELETE) \S+|\/\S+|\bc\d+(?:@[a-z])?\b|\b[a-z]-[\da-f-]+|^[a-z]\b|\d+|"[^"]*"|\{.*|(?<= made ).*/g,
    '…',
  );
}

async function draw({ begin, draw: drawUnit, faults }: Kind, seed: number): Promise<World> {
  const random = createRandom(seed);
  const theme = drawTheme(random);
  const stage = new Stage();
  const units: (readonly Step[])[] = [];
  for (const texts of begin(random)) units.push(await played(stage, texts));
  for (let number = 1; number <= length; number += 1) {
    const texts = drawUnit(random, knownAfter(units.flat(), theme), number);
    units.push(await played(stage, texts));
  }
  return { units, faults: await faults(stage, units.flat()) };
}

/** What a client knows who has read along. */
function knownAfter(steps: readonly Step[], theme: Theme): Known {
  const clients = new Set(steps.flatMap(({ text }) => /^c\d+(?=[:@])/.exec(text) ?? []));
  const seen = steps.flatMap((step) => step.seen).join('\n');
  const told = seen.matchAll(/ by (c\d+) \(|^(c\d+)(?:@[a-z])?: 504 /gm);
  const commands = new Set(Array.from(told, ([, name = '', other = name]) => other));
  return { commands: [...commands], clients: clients.size, theme };
}

/** Performs steps anew. */
async function replay(faults: Kind['faults'], texts: readonly (readonly string[])[]): Promise<World> {
  const stage = new Stage();
  const units: (readonly Step[])[] = [];
  for (const unit of texts) units.push(await played(stage, unit));
  return { units, faults: await faults(stage, units.flat()) };
}

/** Performs steps anew, and judges their end. */
export async function judge(texts: readonly string[], faults: Kind['faults']): Promise<readonly string[]> {
  return (await replay(faults, [texts])).faults;
}

/** Performs steps. A step that is not possible, because another was taken out, does nothing. */
async function played(stage: Stage, texts: readonly string[]): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const text of texts) {
    await perform(stage, text).catch((error: unknown) => {
      stage.say(`not possible: ${String(error)}`);
    });
    steps.push({ text, seen: stage.takeSeen() });
  }
  return steps;
}
