/** Reads the document again while the gateway runs: prints the changes that the document needs, and can make them. */
import { readFile } from 'node:fs/promises';

import { adoptDocument, createSnapshot, type Admin, type Transition } from 'gateway-admin-core';

import { paint } from './console.ts';
import { parseDocument, startingDocument, withPortsOf } from './document.ts';
import { placeText } from './place.ts';

/** Whether the changes are only printed, or made too. */
export type Reloading = 'show' | 'adopt';

/** Reads the document again. A resource that the document leaves out stays as it is. */
export async function reload(admin: Admin, path: string, reloading: Reloading): Promise<void> {
  const given = withPortsOf(parseDocument(await readFile(path, 'utf8')), admin.snapshot);
  const wanted = createSnapshot(await startingDocument(given));
  const transition: Transition = (snapshot, context) => adoptDocument(snapshot, wanted, context);
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  const { events, notes = [], mark } = plan;
  console.log(
    [
      `document ${path}: ${events.length === 0 ? 'nothing to do' : `${String(events.length)} change${events.length === 1 ? '' : 's'}`}`,
      ...events.map((event) => `  ${lineOf(event as unknown as Planned)}`),
      ...notes.map(({ detail }) => `  note: ${detail}`),
    ].join('\n'),
  );
  if (events.length === 0) return;
  if (reloading === 'show') {
    console.log(`Nothing was done. To make these changes: gateway-admin apply ${path}`);
    return;
  }
  // With the mark, the command makes the printed changes, or none.
  const execution = await admin.execute(transition, { mark });
  if ('problem' in execution) throw new Error(execution.problem.detail);
  console.log('Done.');
}

/** An event of a plan. */
interface Planned {
  readonly type: string;
  readonly resource: string;
  readonly from?: Members;
  readonly to?: Members;
}

type Members = Readonly<Record<string, unknown>> & { readonly address?: string; readonly port?: number };

function lineOf({ type, resource, from = {}, to = {} }: Planned): string {
  const more = type.endsWith('.updated') ? changesText(from, to) : placeOfDefinition({ ...from, ...to });
  return `${paint('bold', type)} ${resource}${more === '' ? '' : `: ${more}`}`;
}

function placeOfDefinition({ address, ...place }: Members): string {
  return address === undefined ? '' : placeText({ address, ...place });
}

/** The members that change, each with its values after and before: `port = 5433 (was 5432)`. */
function changesText(from: Members, to: Members): string {
  const changes = Object.keys({ ...from, ...to }).map((name) => {
    const value = name in to ? `${name} = ${JSON.stringify(to[name])}` : `without ${name}`;
    return name in from ? `${value} (was ${JSON.stringify(from[name])})` : value;
  });
  return changes.join(', ');
}
