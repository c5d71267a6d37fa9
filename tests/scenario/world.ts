/**
 * Worlds: steps at random, and the laws at their ends. A world that fails is told as a scenario, with as few steps as show
 * the fault.
 */
import { createRandom, type Random } from 'gateway-admin-core/testing';

import type { Player } from './play.ts';
import { writeScenario, type Step } from './scenario.ts';
import { shrink, simplify } from './shrink.ts';

/** Steps that stay together. */
export type Unit = readonly string[];

/** A kind of worlds, on a stage of its own. */
export interface Kind<S extends Player> {
  readonly open: () => S | Promise<S>;
  /** Leaves nothing of a stage behind. */
  readonly close?: (stage: S) => Promise<void>;
  /** Draws one unit after the other. Gets what was seen of each. */
  readonly draw: (random: Random, stage: S) => Generator<Unit, void, readonly Step[]>;
  /** A unit in simpler forms. */
  readonly simpler: (unit: Unit) => readonly Unit[];
  /** Where a person plays steps. */
  readonly linkTo?: (texts: readonly string[]) => Promise<string>;
  /** Whether what has gone wrong is known already, so that no further step is needed. */
  readonly isOver?: (stage: S) => boolean;
  /** What has gone wrong that must never go wrong. Nothing fails any more, and everybody is waited for. */
  readonly faults: (stage: S, steps: readonly Step[]) => Promise<readonly string[]>;
}

/** What it takes to play steps and to judge their end. */
type Judged<S extends Player> = Pick<Kind<S>, 'open' | 'close' | 'isOver' | 'faults'>;

interface World {
  readonly units: readonly (readonly Step[])[];
  readonly faults: readonly string[];
}

/** How many faults of a world are told: the first one often leads to all others. */
const most = 5;

/** Runs the world of a seed. Gives the scenario that shows what went wrong that must never go wrong. */
export async function simulateWorld<S extends Player>(
  kind: Kind<S>,
  seed: number,
): Promise<readonly string[]> {
  const world = await on(kind, (stage) => draw(kind, stage, createRandom(seed)));
  if (world.faults.length === 0) return [];
  const laws = new Set(world.faults.map(lawOf));
  const texts = world.units.map((unit) => unit.map(({ text }) => text));
  const fails = async (some: readonly Unit[]): Promise<boolean> =>
    (await replay(kind, some)).faults.some((fault) => laws.has(lawOf(fault)));
  const smallest = async (): Promise<World> =>
    replay(kind, await simplify(await shrink(texts, fails), kind.simpler, fails));
  const small = (await fails(texts)) ? await smallest() : world;
  const scenario = writeScenario({
    kind: 'scenario',
    title: `The world of seed ${String(seed)}.`,
    lines: small.units.flat(),
  });
  const link = await kind.linkTo?.(small.units.flat().map(({ text }) => text));
  return [
    `${String(texts.flat().length)} steps, of which these show the fault:`,
    scenario,
    ...(link === undefined ? [] : [`To play it: ${link}`]),
    ...small.faults.slice(0, most),
  ];
}

/** The law that was broken: a fault without the names in it. */
function lawOf(fault: string): string {
  return fault.replace(
    /\b(?:PUT|POST|PATCH|DELETE) \S+|\/\S+|\bc\d+(?:@[a-z])?\b|\b[a-z]-[\da-f-]+|^[a-z]\b|\d+|"[^"]*"|“[^”]*”|\{.*|(?<= made ).*/g,
    '…',
  );
}

async function on<S extends Player>(
  { open, close }: Pick<Kind<S>, 'open' | 'close'>,
  run: (stage: S) => Promise<World>,
): Promise<World> {
  const stage = await open();
  return run(stage).finally(() => close?.(stage));
}

async function draw<S extends Player>(kind: Kind<S>, stage: S, random: Random): Promise<World> {
  const drawing = kind.draw(random, stage);
  const units: (readonly Step[])[] = [];
  for (let next = drawing.next(); next.done !== true;) {
    const unit = await played(stage, next.value);
    units.push(unit);
    next = drawing.next(unit);
  }
  return { units, faults: await kind.faults(stage, units.flat()) };
}

/** Performs steps anew, and judges their end. */
export function replay<S extends Player>(kind: Judged<S>, texts: readonly Unit[]): Promise<World> {
  return on(kind, async (stage) => {
    const units: (readonly Step[])[] = [];
    for (const unit of texts) if (kind.isOver?.(stage) !== true) units.push(await played(stage, unit));
    return { units, faults: await kind.faults(stage, units.flat()) };
  });
}

/** Performs steps. A step that is not possible, because another was taken out, does nothing. */
async function played(player: Player, texts: Unit): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const text of texts) {
    const failures: string[] = [];
    await Promise.resolve(player.perform(text)).catch((error: unknown) => {
      failures.push(`not possible: ${String(error)}`);
    });
    steps.push({ text, seen: [...player.takeSeen(), ...failures] });
  }
  return steps;
}
