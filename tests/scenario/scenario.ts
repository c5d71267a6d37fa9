/**
 * Scenarios as text: a step on each line, and below it, indented, what somebody could see of it.
 */

/** A step with what was seen before the next one. */
export interface Step {
  readonly text: string;
  readonly seen: readonly string[];
}

/** A scenario, or what several scenarios of a file begin with. */
export interface Scenario {
  readonly kind: 'scenario' | 'beginning';
  /** A sentence about behaviour; the name of a beginning. */
  readonly title: string;
  /** Comments and empty lines stay where they are when expectations are written anew. */
  readonly lines: readonly (Step | string)[];
}

/** A file: a remark about all of its scenarios, and the scenarios. */
export interface ScenarioFile {
  readonly remark: string;
  readonly scenarios: readonly Scenario[];
}

const marks = { scenario: '== ', beginning: '-- ' } as const;
const indent = '  ';

export function readScenarios(text: string): ScenarioFile {
  const begin = text.search(/^(?:==|--)/m);
  if (begin === -1) throw new Error('The file has no scenario: no line begins with "== "');
  const parts = text.slice(begin).split(/^(?===|--)/m);
  return { remark: text.slice(0, begin), scenarios: parts.map(readScenario) };
}

function readScenario(text: string): Scenario {
  const [head = '', ...rest] = text.trimEnd().split('\n');
  const kind = head.startsWith(marks.scenario) ? 'scenario' : 'beginning';
  const title = head.slice(marks[kind].length);
  const lines: (string | { text: string; seen: string[] })[] = [];
  for (const line of rest) {
    const step = lines.at(-1);
    if (!line.startsWith(indent))
      lines.push(line === '' || line.startsWith('#') ? line : { text: line, seen: [] });
    else if (typeof step === 'object') step.seen.push(line.slice(indent.length));
    else throw new Error(`In "${title}", no step stands before "${line.trim()}"`);
  }
  return { kind, title, lines };
}

export function writeScenarios({ remark, scenarios }: ScenarioFile): string {
  return remark + scenarios.map(writeScenario).join('\n');
}

export function writeScenario({ kind, title, lines }: Scenario): string {
  const text = lines.flatMap((line) =>
    typeof line === 'string' ? [line] : [line.text, ...line.seen.map((each) => indent + each)],
  );
  return `${marks[kind]}${title}\n${text.join('\n')}\n`;
}

/** A scenario up to the comment that says until when the rest fails; the same object if all of the scenario holds. */
export function holdingPart(scenario: Scenario): Scenario {
  const at = scenario.lines.findIndex(
    (line) => typeof line === 'string' && line.startsWith('# Fails until '),
  );
  return at === -1 ? scenario : { ...scenario, lines: scenario.lines.slice(0, at) };
}
