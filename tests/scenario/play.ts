/**
 * Plays scenarios.
 */
import type { Scenario, ScenarioFile, Step } from './scenario.ts';
import { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** What performs the steps, and tells what was seen since it was asked last. */
export interface Player {
  readonly perform: (text: string) => void | Promise<void>;
  readonly takeSeen: () => readonly string[];
}

export function onStage(): Player & { readonly stage: Stage } {
  const stage = new Stage();
  return { stage, perform: (text) => perform(stage, text), takeSeen: () => stage.takeSeen() };
}

/** Performs the steps of a scenario. Gives the scenario with what was seen. */
export async function playScenario(
  scenario: Scenario,
  file: ScenarioFile,
  player: Player = onStage(),
): Promise<Scenario> {
  const lines: (Step | string)[] = [];
  for (const line of scenario.lines) {
    if (typeof line === 'string') lines.push(line);
    else lines.push(await playStep(player, line, file).catch((error: unknown) => tellOf(line, error)));
  }
  return { ...scenario, lines };
}

function tellOf({ text }: Step, cause: unknown): never {
  throw new Error(`The step "${text}": ${(cause as Error).message}`, { cause });
}

/** A step `given <name>` is a beginning of the file. What is seen of it stands there. That of `(<step>)` is left out. */
async function playStep(player: Player, { text }: Step, file: ScenarioFile): Promise<Step> {
  const [, unseen] = /^\((.+)\)$/.exec(text) ?? [];
  if (unseen !== undefined) {
    await playStep(player, { text: unseen, seen: [] }, file);
    return { text, seen: [] };
  }
  const [, name] = /^given (.+)$/.exec(text) ?? [];
  if (name === undefined) {
    await player.perform(text);
    return { text, seen: player.takeSeen() };
  }
  const beginning = file.scenarios.find(({ kind, title }) => kind === 'beginning' && title === name);
  if (beginning === undefined) throw new Error(`No beginning of the file is "${name}"`);
  for (const line of beginning.lines) if (typeof line === 'object') await playStep(player, line, file);
  return { text, seen: [] };
}
