/**
 * Plays scenarios.
 */
import type { Scenario, ScenarioFile, Step } from './scenario.ts';
import { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** Performs the steps of a scenario. Gives the scenario with what was seen. */
export async function playScenario(scenario: Scenario, file: ScenarioFile): Promise<Scenario> {
  const stage = new Stage();
  const lines: (Step | string)[] = [];
  for (const line of scenario.lines) {
    if (typeof line === 'string') lines.push(line);
    else lines.push(await playStep(stage, line, file).catch((error: unknown) => tellOf(line, error)));
  }
  return { ...scenario, lines };
}

function tellOf({ text }: Step, cause: unknown): never {
  throw new Error(`The step "${text}": ${(cause as Error).message}`, { cause });
}

/** A step `given <name>` is a beginning of the file. What is seen of it stands there. That of `(<step>)` is left out. */
async function playStep(stage: Stage, { text }: Step, file: ScenarioFile): Promise<Step> {
  const [, unseen] = /^\((.+)\)$/.exec(text) ?? [];
  if (unseen !== undefined) {
    await playStep(stage, { text: unseen, seen: [] }, file);
    return { text, seen: [] };
  }
  const [, name] = /^given (.+)$/.exec(text) ?? [];
  if (name === undefined) {
    await perform(stage, text);
    return { text, seen: stage.takeSeen() };
  }
  const beginning = file.scenarios.find(({ kind, title }) => kind === 'beginning' && title === name);
  if (beginning === undefined) throw new Error(`No beginning of the file is "${name}"`);
  for (const line of beginning.lines) if (typeof line === 'object') await playStep(stage, line, file);
  return { text, seen: [] };
}
