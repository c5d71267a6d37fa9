/**
 * A logger that keeps its lines.
 */
import type { Logger } from 'gateway-admin-core';

import { lookAt } from './leak.ts';

/** A line of a log: the level, the message and the fields. */
export type Line = readonly [level: keyof Logger, message: string, fields: Readonly<Record<string, unknown>>];

/** Makes a logger that hands each line over. */
export function loggerTo(onLine: (line: Line) => void): Logger {
  const take =
    (level: keyof Logger) =>
    (fields: object, message: string): void => {
      lookAt('a line of the log', fields);
      onLine([level, message, fields as Line[2]]);
    };
  return { debug: take('debug'), info: take('info'), warn: take('warn'), error: take('error') };
}

/** Makes a logger, and the lines that the logger has taken. */
export function takeLines(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  return { logger: loggerTo((line) => lines.push(line)), lines };
}
