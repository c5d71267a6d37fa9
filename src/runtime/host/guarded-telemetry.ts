/**
 * Guarded telemetry: the live figures of the host, or `undefined` for a figure that cannot be shown. A response then shows
 * the stored figure. A failure goes to `onError` once for each reader, because a list reads one figure for each entry.
 */
import { parseShape } from '../../core/shape.ts';
import { listFaults } from '../../problem.ts';
import { telemetryShapes } from '../../resources/gateway.ts';
import type { Telemetry } from '../../resources/shared/rendering.ts';
import { noStatistics, type ConnectionStatistics } from '../../snapshot/session-table.ts';
import { onceEach } from './guarded-clock.ts';
import { answerText, callFailed, HostError, isThenable } from './host-error.ts';

/** The figure of an answer, or what is wrong with the answer. */
type Figure<T> = { readonly value: T } | { readonly fault: string };

/**
 * Guards telemetry. Figures are copied, so that an answer cannot change after the check.
 *
 * @internal
 */
export function guardTelemetry(telemetry: Telemetry, onError: (error: unknown) => void): Required<Telemetry> {
  const tellOnce = onceEach(onError);
  const read = <T>(
    name: keyof Telemetry,
    ask: () => unknown,
    figureOf: (answer: unknown) => Figure<T>,
  ): T | undefined => {
    const call = `telemetry.${name}` as const;
    try {
      const answer = ask();
      if (answer === undefined) return undefined;
      const figure: Figure<T> = isThenable(answer) ? noFigure(answer) : figureOf(answer);
      if ('value' in figure) return figure.value;
      tellOnce(new HostError(`${call} ${figure.fault}. ${instead}`, { call }));
    } catch (cause) {
      tellOnce(callFailed(call, cause, instead));
    }
    return undefined;
  };
  return {
    threads: () => read('threads', () => telemetry.threads?.(), shaped(telemetryShapes.threads)),
    tasks: () => read('tasks', () => telemetry.tasks?.(), shaped(telemetryShapes.tasks)),
    idle: (session) => read('idle', () => telemetry.idle?.(session), numberOf),
    statistics: (session, connection) =>
      read('statistics', () => telemetry.statistics?.(session, connection), statisticsOf),
  };
}

const instead = 'The response shows the stored figure.';

function noFigure(answer: unknown): { readonly fault: string } {
  return { fault: `answered ${answerText(answer)}, which is no figure` };
}

function numberOf(answer: unknown): Figure<number> {
  return Number.isFinite(answer) ? { value: answer as number } : noFigure(answer);
}

const counters = Object.keys(noStatistics) as (keyof ConnectionStatistics)[];

/** Checked without a shape, because a list reads the counters of each connection. */
function statisticsOf(answer: unknown): Figure<ConnectionStatistics> {
  if (typeof answer !== 'object' || answer === null) return noFigure(answer);
  const copy: Record<keyof ConnectionStatistics, number> = { ...noStatistics };
  for (const name of counters) {
    const counter = numberOf((answer as Readonly<Record<string, unknown>>)[name]);
    if ('fault' in counter) return { fault: `answered wrong counters: ${name} ${counter.fault}` };
    copy[name] = counter.value;
  }
  return { value: copy };
}

function shaped<T>(shape: Parameters<typeof parseShape<T>>[0]): (answer: unknown) => Figure<T> {
  return (answer) => {
    const parsed = parseShape(shape, answer);
    if (parsed.ok) return { value: parsed.value };
    return { fault: `answered wrong figures: ${listFaults(parsed.faults).join('; ')}` };
  };
}
