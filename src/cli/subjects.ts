/**
 * The subjects of a change: resources that a user names, or that conditions choose. An act on several of them is one
 * sequence, with one plan and one question.
 */
import { commandAt, type Client, type CommandId, type Elements } from '../client/index.ts';
import type { Json } from '../json/index.ts';
import { valueOrEnd } from './answer.ts';
import { wrongUse, type Call } from './command.ts';
import { methodOf } from './connection.ts';
import { conditionsOf, conditionText, meeting, whereOption, type Row } from './condition.ts';
import { kindOf, mostNamed, resourceWith, subjectOf } from './kind.ts';
import type { AskedAct } from './plan.ts';

/** The arguments that name the resources of an act; none are named with `--where`. */
export function subjectsWith(endpoint: string) {
  const [kind, name] = resourceWith(endpoint);
  return [kind, { ...name, optional: true, multiple: true }] as const;
}

/** The option that chooses the resources of an act. */
export const subjectOptions = whereOption;

/** What a call says of the resources of its act. */
interface Given {
  /** The name of the command. */
  readonly verb: string;
  readonly kind: string;
  readonly names: readonly string[];
}

/** The resources of an act: each name once. */
export interface Subjects {
  readonly kind: string;
  readonly names: readonly string[];
  /** The conditions that have chosen them, in words; left out if the user has named them. */
  readonly where?: string;
}

/**
 * The resources that a call means.
 *
 * @throws CommandError unless the call names resources or has conditions, and not both
 */
export function subjectsIn(call: Call, { verb, kind, names }: Given): (client: Client) => Promise<Subjects> {
  const isChosen = conditionsOf(call).length > 0;
  if (names.length === 0 && !isChosen) throw wrongUse(`${verb} needs a name, or --where.`, `help ${verb}`);
  if (names.length > 0 && isChosen)
    throw wrongUse(`${verb} takes names or --where, not both.`, `help ${verb}`);
  if (!isChosen) return () => Promise.resolve({ kind, names: [...new Set(names)] });
  return async (client) => {
    const { list } = kindOf(kind);
    const { elements } = valueOrEnd(await methodOf(client, list)()) as Elements<
      Row & { readonly name: string }
    >;
    const found = await meeting(call, list, elements);
    const where = conditionText(call);
    return { kind, names: found.map(({ name }) => name.replace(/\s/g, '-')), where };
  };
}

/**
 * The change that an act makes on each of the resources that a call means, or why nothing is to do.
 *
 * @param actOf - the act, of the resources in words
 */
export function onEach(
  call: Call,
  given: Given,
  actOf: (subjects: string) => ActOnEach,
): (client: Client) => Promise<AskedAct | string> {
  const chosen = subjectsIn(call, given);
  return async (client) => {
    const subjects = await chosen(client);
    return subjects.names.length === 0
      ? noneMeets(subjects)
      : changeOfEach(subjects, actOf(subjectsText(subjects)));
  };
}

/** Why nothing is to do if conditions have chosen no resource. */
export function noneMeets({ kind, where = '' }: Subjects): string {
  return `no ${kind} meets ${where}.`;
}

/** Resources in a title, such as `services Sales, Reports`. */
export function subjectsText({ kind, names }: Subjects): string {
  if (names.length > mostNamed) return subjectOf(kind, ...names).name;
  return `${kind}${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
}

/** An act on each of several resources. */
interface ActOnEach {
  readonly title: string;
  readonly act: CommandId;
  /** The body of each command; left out for a command without one. */
  readonly body?: Json | undefined;
}

/** What to do if there are too many for one command. */
const remedy = 'One command takes at most 100 resources. Choose fewer with another --where.';

/** The command for one resource, or one sequence for several. */
export function changeOfEach({ kind, names }: Subjects, { title, act, body }: ActOnEach): AskedAct {
  const change = { title, subject: subjectOf(kind, ...names), act };
  const [only = '', ...others] = names;
  if (others.length === 0) return { ...change, given: [only, ...(body === undefined ? [] : [body])] };
  const commands = names.map((name) =>
    commandAt(act, `/${kind}s/${encodeURIComponent(name.replace(/\s/g, '-'))}`, body),
  );
  const isMany = names.length > mostNamed;
  return {
    ...change,
    id: 'sequence.send',
    given: [{ commands }],
    ...(isMany ? { shown: 'before', remedy } : {}),
  };
}
