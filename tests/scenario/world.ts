/**
 * A world: a scenario at random, and the laws at its end. A world that fails is told as a scenario, with as few steps as
 * show the fault.
 */
import { createRandom } from 'gateway-admin-core/testing';

import { faultsAtRest } from './law.ts';
import { beginning, drawSteps, drawTheme, simplerUnits } from './random.ts';
import { writeScenario, type Step } from './scenario.ts';
import { shrink, simplify } from './shrink.ts';
import { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

interface World {
  /** Steps that stay together. */
  readonly units: readonly (readonly Step[])[];
  readonly faults: readonly string[];
}

const length = 40;

/** Runs the world of a seed. Gives the scenario that shows what went wrong that must never go wrong. */
export async function simulate(seed: number): Promise<readonly string[]> {
  const world = await draw(seed);
  if (world.faults.length === 0) return [];
  const kinds = new Set(world.faults.map(kindOf));
  const texts = world.units.map((unit) => unit.map(({ text }) => text));
  const fails = async (some: readonly (readonly string[])[]): Promise<boolean> =>
    (await replay(some)).faults.some((fault) => kinds.has(kindOf(fault)));
  const smallest = async (): Promise<World> =>
    replay(await simplify(await shrink(texts, fails), simplerUnits, fails));
  const small = (await fails(texts)) ? await smallest() : world;
  const scenario = writeScenario({
    kind: 'scenario',
    title: `The world of seed ${String(seed)}.`,
    lines: small.units.flat(),
  });
  return [scenario, ...small.faults];
}

/** A fault without the names in it. */
function kindOf(fault: string): string {
  return fault.replace(/\/\S+|\bc\d+\b|\bs-[\d-]+|\d+|"[^"]*"/g, '…');
}

async function draw(seed: number): Promise<World> {
  const random = createRandom(seed);
  const theme = drawTheme(random);
  const commands: string[] = [];
  let clients = 0;
  const stage = new Stage();
  const units: (readonly Step[])[] = [await played(stage, beginning)];
  for (let number = 1; number <= length; number += 1) {
    const texts = drawSteps(random, { commands, clients, theme }, number);
    clients += new Set(texts.flatMap((text) => /^c\d+(?=:)/.exec(text) ?? [])).size;
    const unit = await played(stage, texts);
    units.push(unit);
    const seen = unit.flatMap((step) => step.seen).join('\n');
    for (const [, name, other = name] of seen.matchAll(/ by (c\d+) \(|^(c\d+): 504 /gm))
      if (other !== undefined && !commands.includes(other)) commands.push(other);
  }
  return judged(stage, units);
}

/** Performs steps anew. */
async function replay(texts: readonly (readonly string[])[]): Promise<World> {
  const stage = new Stage();
  const units: (readonly Step[])[] = [];
  for (const unit of texts) units.push(await played(stage, unit));
  return judged(stage, units);
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

async function judged(stage: Stage, units: World['units']): Promise<World> {
  return { units, faults: await faultsAtRest(stage, units.flat()) };
}
