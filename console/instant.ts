/**
 * Instants of times without a zone.
 */
import { zones } from './time.ts';

/** An instant of a text such as `Wed Sep  9 14:12:37 2026`, which the clocks of the gateway showed. */
export function instantOnClocks(text: string): number {
  const wall = Date.parse(`${text} UTC`);
  // This locale has the order of ISO 8601.
  const shown = new Date(wall).toLocaleString('sv', { timeZone: zones.gateway });
  return 2 * wall - Date.parse(`${shown.replace(' ', 'T')}Z`);
}
