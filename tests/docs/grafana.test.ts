/**
 * The board and the alert rules of examples/grafana/: what they ask for is what `metricsOf` writes.
 */
import { describe, expect, it } from '@jest/globals';
import { metricsOf } from 'gateway-admin-core';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

import { readExposition } from '../support/exposition.ts';
import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';

interface Board {
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[];
  }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const board = JSON.parse(read('examples/grafana/dashboard.json')) as Board;
const { groups } = parse(read('examples/grafana/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const targets = board.panels.flatMap((panel) => panel.targets.map((target) => ({ ...panel, ...target })));

/** The labels of each metric with the values that they can have. Prometheus itself gives a target the first two. */
const metrics = new Map(
  readExposition(metricsOf(runAdmin().admin)).map(({ name, samples }) => {
    const labels = ['instance', 'job', ...Object.keys(samples[0]?.labels ?? {})];
    const valuesOf = (label: string) => new Set(samples.map((sample) => sample.labels[label]));
    return [name, new Map(labels.map((label) => [label, valuesOf(label)]))] as const;
  }),
);

/** The labels whose values are words of the library. */
const ownWords = ['code', 'level', 'state', 'status'];

/** What is wrong with an expression, a word for each fault; and the metrics that it names. */
function inspect(expression: string) {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const textOf = (node: Place | null) => (node === null ? '' : text.slice(node.from, node.to));
  const [faults, named, grouping]: [string[], string[], string[]] = [[], [], []];
  parser.parse(text).iterate({
    enter({ name, type, from, node }) {
      if (type.isError) faults.push(`syntax at ${String(from)}`);
      if (name === 'GroupingLabels') grouping.push(...node.getChildren('LabelName').map(textOf));
      if (name !== 'VectorSelector') return;
      const metric = textOf(node.getChild('Identifier'));
      named.push(metric);
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      faults.push(...matchers.map(textOf).filter((matcher) => !isKnown(metric, matcher)));
    },
  });
  faults.push(...named.filter((metric) => !metrics.has(metric)));
  faults.push(...grouping.filter((label) => !have(named, label)));
  return { faults, named };
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** Whether a metric has the label of a matcher, and the label such a value. */
function isKnown(metric: string, matcher: string): boolean {
  const [, label = '', operator = '', value] = /^(\w+)\s*(\W+)"(.*)"$/.exec(matcher) ?? [];
  const values = metrics.get(metric)?.get(label);
  return values !== undefined && (operator.includes('~') || !ownWords.includes(label) || values.has(value));
}

/** Whether one of the metrics has a label. */
function have(named: readonly string[], label: string): boolean {
  return named.some((metric) => metrics.get(metric)?.has(label) === true);
}

/** The labels that a text names, and none of the metrics has. */
function unknownIn(text: string, mark: RegExp, named: readonly string[]): readonly string[] {
  return [...text.matchAll(mark)].map(([, label = '']) => label).filter((label) => !have(named, label));
}

describe('the board', () => {
  it.each(targets)('asks for figures that there are: $title', ({ expr, legendFormat = '' }) => {
    const { faults, named } = inspect(expr);
    expect(faults).toEqual([]);
    expect(named).not.toHaveLength(0);
    expect(unknownIn(legendFormat, /\{\{(\w+)\}\}/g, named)).toEqual([]);
  });

  it('lets the reader choose among the gateways', () => {
    const [, query] = board.templating.list;
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query?.query ?? '') ?? [];
    expect([metric, metrics.get(metric)?.has(label)]).toEqual(['gateway_revision', true]);
    for (const { expr } of targets)
      expect(expr.match(/\{[^}]*\}/g)?.every((each) => each.includes('instance=~"$instance"'))).toBe(true);
  });

  it('has an id of its own for each panel', () => {
    const ids = new Set(board.panels.map(({ id }) => id));
    expect(ids.size).toBe(board.panels.length);
  });
});

describe('the alert rules', () => {
  it.each(rules)('$alert asks for figures that there are, and says what to do', (rule) => {
    const { faults, named } = inspect(rule.expr);
    expect(faults).toEqual([]);
    expect(rule).toEqual({
      alert: expect.stringMatching(/^Gateway[A-Za-z]+$/),
      expr: rule.expr,
      for: expect.stringMatching(/^\d+[mhd]$/),
      labels: { severity: expect.stringMatching(/^(?:critical|warning)$/) },
      annotations: { summary: expect.any(String), description: expect.any(String) },
    });
    const texts = Object.values(rule.annotations).join();
    expect(unknownIn(texts, /\$labels\.(\w+)/g, named)).toEqual([]);
  });

  it('have a name of their own each', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

it.each([...metrics.keys()])('the board or a rule asks for %s', (metric) => {
  expect([...targets, ...rules].flatMap(({ expr }) => inspect(expr).named)).toContain(metric);
});

it.each([
  'gateway_service_draining == 1',
  'gateway_server_draining == 1',
  'gateway_alerts{code="drain-overdue"} > 0',
])('a rule looks at %s', (expression) => {
  expect(rules.map(({ expr }) => expr)).toContain(expression);
});

describe('the check of an expression', () => {
  it.each([
    ['gateway_service_sesions', ['gateway_service_sesions']],
    ['gateway_service_sessions{service="Sales"}', ['service="Sales"']],
    ['gateway_service_sessions{state="failed"} * gateway_service_state', ['state="failed"']],
    ['{job="x"}', ['job="x"', '']],
    ['sum by (server) (gateway_server_connections)', ['server']],
    ['gateway_service_state{state="broken"}', ['state="broken"']],
    ['gateway_service_state{state!="running"} == 1', ['state!="running"']],
    ['gateway_server_status{status="running"} == 0 unless ignoring (state) up', ['up', 'state']],
    ['sum(rate(gateway_revision[5m])', [expect.stringContaining('syntax')]],
  ])('finds what is wrong with %s', (expression, faults) => {
    expect(inspect(expression).faults).toEqual(faults);
  });

  it('finds nothing wrong with other metrics of the table', () => {
    expect(inspect('gateway_monitor_state{state="failed", job="x"} == 1').faults).toEqual([]);
  });
});
