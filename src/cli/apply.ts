/**
 * `plan` and `apply`: let a running gateway take a gateway document over. The interface finds the changes.
 */
import type { Client, DocumentExtent } from '../client/index.ts';
import type { Plan } from '../index.ts';
import { valueOrEnd } from './answer.ts';
import { makeAsPlanned, sayNothingToDo } from './change.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { connect } from './connection.ts';
import { safeText } from './output.ts';
import { documentIn } from './parts.ts';
import { placeOf, type GatewayPlace } from './place.ts';
import {
  changeCountOf,
  consequenceLines,
  countLines,
  nothingDoneOn,
  planIn,
  rowOf,
  type AskedAct,
  type Notes,
  type PlannedChange,
} from './plan.ts';

/** Prints the changes that the document asks for. */
export async function planDocument(call: Call): Promise<void> {
  const { output } = call;
  const found = await findChanges(call);
  const { planned, place, isEqual, file } = found;
  if (output.isJson) output.json(shownPlan(found.whole));
  else {
    tell(call, found);
    if (!isEqual) {
      printChanges(call, planned.plan);
      output.lines(...consequenceLines(planned, place).map(safeText));
    }
    output.lines(nothingDoneOn(place.text));
  }
  if (call.has('exit-code') && !isEqual)
    throw new CommandError(`The gateway differs from ${safeText(file)}.`, exitCodes.differs);
}

/** Makes the changes that the document asks for, all or none, after a yes. */
export async function applyDocument(call: Call): Promise<void> {
  if (call.has('dry-run')) return planDocument(call);
  const { output } = call;
  const found = await findChanges(call);
  const { client, planned, place, isEqual } = found;
  tell(call, found);
  if (isEqual) return;
  if (!output.isJson) {
    printChanges(call, planned.plan);
    // The notes of a change go to the standard error.
    output.lines(...countLines(planned, place).map(safeText));
  }
  await makeAsPlanned(call, client, planned, place);
}

/** What a document changes. */
interface Found {
  readonly file: string;
  readonly client: Client;
  /** The plan with all its notes. */
  readonly whole: Plan;
  /** The change, without the notes about the document. */
  readonly planned: PlannedChange;
  /** The notes about the document. */
  readonly told: Notes;
  readonly place: GatewayPlace;
  readonly isEqual: boolean;
}

async function findChanges(call: Call): Promise<Found> {
  const [file = ''] = call.words;
  const options = extentOf(call);
  const document = (await documentIn(file, call.surroundings)) as Parameters<Client['document']['adopt']>[0];
  const client = await connect(call);
  const change: AskedAct = {
    title: `apply ${file}`,
    shown: 'already',
    act: 'document.adopt',
    given: [document],
    options,
    remedy: 'Correct the document.',
    linesOf: ({ events }) =>
      events.map(rowOf).flatMap(({ resource, changes }) => changes.map((each) => `${resource}  ${each}`)),
  };
  const whole = planIn(valueOrEnd(await client.document.adopt.plan(document, options), change));
  const { plan, told } = withoutTold(whole);
  const place = await placeOf(call, client);
  return {
    file,
    client,
    whole,
    planned: { change, plan },
    told,
    place,
    isEqual: plan.outcome === 'unchanged',
  };
}

/** Says what of the document is not applied, and whether there is anything to do. */
function tell(call: Call, { told, isEqual, place, file }: Found): void {
  for (const { detail } of told) call.output.note(safeText(detail));
  if (isEqual) sayNothingToDo(call, equalText(told, place.text, file));
}

function extentOf(call: Call): DocumentExtent {
  const [prune, allowsEmpty, only] = [call.has('prune'), call.has('allow-empty'), call.valueOf('only')];
  if (allowsEmpty && !prune)
    throw new CommandError('--allow-empty stands beside --prune.', exitCodes.wrongUse);
  return {
    ...(prune && { prune }),
    ...(allowsEmpty && { allow_empty: allowsEmpty }),
    ...(only !== undefined && { only }),
  };
}

/** The notes about the document, and not about a change: a person is told what stays before the changes. */
const aboutDocument: readonly string[] = ['left-out', 'left-as-it-is', 'nothing-compared'];

function withoutTold({ notes = [], ...plan }: Plan): { readonly plan: Plan; readonly told: Notes } {
  const isTold = ({ code }: Notes[number]): boolean => aboutDocument.includes(code);
  const others = notes.filter((note) => !isTold(note));
  return { plan: { ...plan, ...(others.length > 0 && { notes: others }) }, told: notes.filter(isTold) };
}

/** Why there is nothing to do. */
function equalText(told: Notes, place: string, file: string): string {
  const isTold = (code: string): boolean => told.some((note) => note.code === code);
  if (isTold('nothing-compared')) return `${file} names no kind to compare.`;
  return `${place} is as ${file} says${isTold('left-as-it-is') ? ', and has more' : ''}.`;
}

/** A plan for programs. */
function shownPlan({ events, count, closes, stays, notes }: Plan): object {
  const changes = events.map(rowOf).map(({ resource, changes: lines }) => ({ resource, changes: lines }));
  return { changes, ...(count && { count }), closes, stays, ...(notes && { notes }) };
}

function printChanges({ output }: Call, plan: Plan): void {
  output.table(
    ['resource', 'change'],
    plan.events
      .map(rowOf)
      .flatMap(({ resource, changes }) =>
        changes.map((line, at) => [at === 0 ? safeText(resource) : '', safeText(line)]),
      ),
  );
  const more = changeCountOf(plan) - plan.events.length;
  if (more > 0) output.lines(`and ${more.toLocaleString('en')} more`);
}
