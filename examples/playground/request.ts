/**
 * Requests of the page, as steps of a scenario.
 */
import type { AdminRequest } from 'gateway-admin-core';

/** Who looks at the page. */
export const person = 'ada';

/** A dry run of the page: its step, how many steps were done before, and what was seen of it. */
export interface Plan {
  readonly text: string;
  at: number;
  seen: readonly string[];
}

/** A request as a step. */
export interface AskedStep {
  readonly text: string;
  readonly isPlan: boolean;
  /** The mark of the plan that the request carries out. */
  readonly mark: string | undefined;
}

/**
 * Writes a request as a step.
 *
 * @param written - writes ids as steps name them
 */
export function stepOf(
  { method, target, headers, body }: AdminRequest,
  node: string | undefined,
  written: (text: string) => string,
): AskedStep {
  const [, mark] = /[?&]mark=([^&]*)/.exec(target) ?? [];
  const kept = Object.fromEntries(
    ['if-match', 'prefer'].flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
  const given = Object.keys(kept).length === 0 ? '' : ` with ${oneLine(JSON.stringify(kept))}`;
  const content =
    typeof body === 'string' && body !== '' ? ` ${oneLine(JSON.stringify(JSON.parse(body)))}` : '';
  const client = node === undefined ? person : `${person}@${node}`;
  return {
    text: `${client}${given}: ${method} ${written(target)}${content}`,
    isPlan: /[?&]dry_run=true/.test(target),
    mark: mark === undefined ? undefined : decodeURIComponent(mark),
  };
}

/** JSON in which no text looks like a part of a step. */
function oneLine(json: string): string {
  return json.replace(/ \+ /g, String.raw` \u002b `).replace(/: /g, String.raw`\u003a `);
}

/** A command that does what its last dry run has shown, in place of the mark. */
export function withPlan(step: string): string {
  const unmarked = step.replace(/([?&])mark=[^&\s]*(&?)/, (_all, first: string, more: string) =>
    more === '' ? '' : first,
  );
  return `${unmarked}, as planned`;
}
