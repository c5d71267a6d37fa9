/**
 * A world: a scenario at random, and the laws at its end. A world that fails is told as a scenario, with as few steps as
 * show the fault.
 */
import { createRandom } from 'gateway-admin-core/testing';

import { faultsAtRest } from './law.ts';
import { drawStep } from './random.ts';
import { writeScenario, type Step } from './scenario.ts';
import { shrink } from './shrink.ts';
import { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

interface World {
  readonly steps: readonly Step[];
  readonly faults: readonly string[];
}

const length = 40;

/** Runs the world of a seed. Gives the scenario that shows what went wrong that must never go wrong. */
export async function simulate(seed: number): Promise<readonly string[]> {
  const world = await draw(seed);
  if (world.faults.length === 0) return [];
  const kinds = new Set(world.faults.map(kindOf));
  const texts = world.steps.map(({ text }) => text);
  const fails = async (some: readonly string[]): Promise<boolean> =>
    (await replay(some)).faults.some((fault) => kinds.has(kindOf(fault)));
  const small = (await fails(texts)) ? await replay(await shrink(texts, fails)) : world;
  const scenario = writeScenario({
    kind: 'scenario',
    title: `The world of seed ${String(seed)}.`,
    lines: small.steps,
  });
  return [scenario, ...small.faults];
}

/** A fault without the names in it. */
function kindOf(fault: string): string {
  return fault.replace(/\/\S+|\bc\d+\b|\bs-[\d-]+|\d+|"[^"]*"/g, '…');
}

async function draw(seed: number): Promise<World> {
  const random = createRandom(seed);
  const commands: string[] = [];
  let clients = 0;
  const stage = new Stage();
  const steps: Step[] = [];
  for (let number = 1; number <= length; number += 1) {
    const text = drawStep(random, { commands, clients }, number);
    if (/^c\d+:/.test(text)) clients += 1;
    const step = await played(stage, text);
    steps.push(step);
    for (const [id] of step.seen.join(' ').matchAll(/\bs-[\d-]+\b/g))
      if (!commands.includes(id)) commands.push(id);
  }
  return judged(stage, steps);
}

/** Performs steps anew. A step that has become impossible is left out. */
async function replay(texts: readonly string[]): Promise<World> {
  const stage = new Stage();
  const steps: Step[] = [];
  for (const text of texts) steps.push(await played(stage, text));
  return judged(stage, steps);
}

async function played(stage: Stage, text: string): Promise<Step> {
  try {
    await perform(stage, text);
  } catch (error) {
    stage.say(`not possible: ${String(error)}`);
  }
  return { text, seen: stage.takeSeen() };
}

async function judged(stage: Stage, steps: readonly Step[]): Promise<World> {
  return {
    steps,
    faults: await faultsAtRest(
      stage,
      steps.flatMap(({ seen }) => seen),
    ),
  };
}
