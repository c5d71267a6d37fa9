/** Reads the document again while the gateway runs: prints the changes that the document needs, and can make them. */
import { readFile } from 'node:fs/promises';

import {
  adoptDocument,
  createSnapshot,
  type Admin,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

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
  readonly operations?: readonly Operation[];
  readonly inverse?: readonly Operation[];
  readonly definition?: { readonly address?: string; readonly port?: number };
}

function lineOf({ type, resource, operations = [], inverse = [], definition }: Planned): string {
  const { address, ...place } = definition ?? {};
  const details = address === undefined ? [] : [placeText({ address, ...place })];
  const changes = operations.map((operation) => changeText(operation, inverse));
  const more = [...details, ...changes].join(', ');
  return `${paint('bold', type)} ${resource}${more === '' ? '' : `: ${more}`}`;
}

/** An operation with the value after it, and the one before: `/port = 5433 (was 5432)`. */
function changeText(operation: Operation, inverse: readonly Operation[]): string {
  const { op, path } = operation;
  const before = inverse.find((back) => back.op !== 'test' && back.path === path);
  const value = 'value' in operation ? ` = ${JSON.stringify(operation.value)}` : '';
  const old = before !== undefined && 'value' in before ? ` (was ${JSON.stringify(before.value)})` : '';
  return `${op === 'remove' ? 'without ' : ''}${path}${value}${old}`;
}
