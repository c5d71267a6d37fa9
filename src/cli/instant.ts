/**
 * Instants on the command line: `2016-08-29T12:52:31+03:00`, `2016-08-29 12:52`, `2016-08-29`, `yesterday`, or a span
 * before now such as `1h30m`. A time without an offset is in the time zone of the gateway, as the times that are
 * printed.
 */
import type { Client } from '../client/index.ts';
import type { TimeFormat } from '../core/time.ts';
import { valueOf } from './answer.ts';
import { wrongUse } from './command.ts';
import { safeText } from './output.ts';
import { secondsIn } from './span.ts';

/** Writes times as the interface does, in its time zone. */
export async function timesOf(client: Client): Promise<TimeFormat> {
  const { time_zone: zone = 'UTC' } = valueOf(await client.interface.get({ fields: ['time_zone'] })) as {
    readonly time_zone?: string;
  };
  const { createTimeFormat } = await import('../core/time.ts');
  return createTimeFormat(zone);
}

/**
 * The instant of an option, as the interface takes it.
 *
 * @param option - the name of the option, for the error about a text that is no instant
 */
export async function instantIn(option: string, text: string, client: Client): Promise<string> {
  const seconds = secondsIn(text);
  // Not before what a date can be: no change is so old.
  if (seconds !== undefined) return new Date(Math.max(0, Date.now() - seconds * 1000)).toISOString();
  const { parseInstant } = await import('../core/time.ts');
  const instant = parseInstant(text) === undefined ? await wallInstant(text, () => timesOf(client)) : text;
  if (instant !== undefined && parseInstant(instant) !== undefined) return instant;
  throw wrongUse(
    `--${option} takes a time such as 2016-08-29T12:52:31+03:00, 2016-08-29, yesterday or 1h30m, and not ` +
      `${safeText(text.slice(0, 100))}.`,
  );
}

/** How many days before today a word means. */
const days: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', 1],
]);

const dayMs = 86_400_000;

/** An instant that a clock on the wall shows; `undefined` if the text is none. */
async function wallInstant(text: string, times: () => Promise<TimeFormat>): Promise<string | undefined> {
  const [, date, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(text) ?? [];
  const ago = days.get(text);
  if (date === undefined && ago === undefined) return undefined;
  const { iso8601 } = await times();
  const day = date ?? dayBefore(iso8601(Date.now()), ago ?? 0);
  const wall = `${day}T${time.padEnd(8, ':00')}`;
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // The offset can be another one at the instant itself.
  const offsetAt = (at: number): string => iso8601(at).slice(-6);
  return `${wall}${offsetAt(Date.parse(`${wall}${offsetAt(asUtc)}`))}`;
}

function dayBefore(now: string, count: number): string {
  return new Date(Date.parse(`${now.slice(0, 10)}T00:00:00Z`) - count * dayMs).toISOString().slice(0, 10);
}
