/**
 * Worlds of scenarios: what clients, the gateway, the store and the operator of the process could do next.
 */
import type { Random } from 'gateway-admin-core/testing';

import { formatLink } from '../../examples/playground/link.ts';
import { onStage, type Player } from './play.ts';
import { drawTheme, type Known } from './random.ts';
import type { Step } from './scenario.ts';
import type { Stage } from './stage.ts';
import { replay, simulateWorld, type Kind, type Unit } from './world.ts';

/** A kind of worlds of scenarios. */
interface ScenarioKind extends Pick<Kind<Player>, 'simpler'> {
  /** What happens first. */
  readonly begin: (random: Random) => readonly Unit[];
  /** Draws the next unit. */
  readonly draw: (random: Random, known: Known, number: number) => Unit;
  readonly faults: (stage: Stage, steps: readonly Step[]) => Promise<readonly string[]>;
}

const length = 40;

/** Runs the world of a seed. Gives the scenario that shows what went wrong that must never go wrong. */
export function simulateScenario(kind: ScenarioKind, seed: number): Promise<readonly string[]> {
  return simulateWorld(
    {
      open: onStage,
      draw: (random) => drawUnits(kind, random),
      simpler: kind.simpler,
      faults: ({ stage }, steps) => kind.faults(stage, steps),
      linkTo,
    },
    seed,
  );
}

/** The playground with some steps. */
async function linkTo(steps: readonly string[]): Promise<string> {
  return `examples/dist/playground/index.html#?${await formatLink({ seed: 1, steps, done: steps.length })}`;
}

/** Performs steps, and judges their end. */
export async function judge(
  texts: readonly string[],
  faults: ScenarioKind['faults'],
): Promise<readonly string[]> {
  const kind = {
    open: onStage,
    faults: ({ stage }: ReturnType<typeof onStage>, steps: readonly Step[]) => faults(stage, steps),
  };
  return (await replay(kind, [texts])).faults;
}

function* drawUnits({ begin, draw }: ScenarioKind, random: Random): Generator<Unit, void, readonly Step[]> {
  const theme = drawTheme(random);
  const commands: string[] = [];
  let clients = 0;
  yield* begin(random);
  for (let number = 1; number <= length; number += 1) {
    const texts = draw(random, { commands, clients, theme }, number);
    clients += new Set(texts.flatMap((text) => /^c\d+(?=[:@])/.exec(text) ?? [])).size;
    const seen = (yield texts).flatMap((step) => step.seen).join('\n');
    for (const [, name, other = name] of seen.matchAll(/ by (c\d+) \(|^(c\d+)(?:@[a-z])?: 504 /gm))
      if (other !== undefined && !commands.includes(other)) commands.push(other);
  }
}
