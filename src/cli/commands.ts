/**
 * The table of commands. A change that follows from the arguments alone is a row here. Every other command is in the
 * file of its subject.
 */
import { acts, type Client, type CommandId, type Verb } from '../client/index.ts';
import { changing } from './change.ts';
import { connectionOptions, type Call, type Command } from './command.ts';
import { completion } from './completion.ts';
import { context } from './context.ts';
import { apply, check, exportDocument, hashPassword, plan, seal } from './document.ts';
import { drain, resume } from './draining.ts';
import { create, deletion, patch } from './editing.ts';
import { events, watch } from './following.ts';
import { history, undo, why } from './history.ts';
import { readNewPassword } from './input.ts';
import { subjectOf } from './kind.ts';
import { explain } from './meaning.ts';
import { open } from './opening.ts';
import { safeText } from './output.ts';
import { placeOf, whereText } from './place.ts';
import type { AskedAct } from './plan.ts';
import { list, show, status } from './reading.ts';
import { close } from './session.ts';
import { onEach, subjectOptions, subjectsWith } from './subjects.ts';

/** The verbs of the table of acts, each once. */
const verbs = [...new Set(Object.values(acts).flatMap(({ verb }) => verb ?? []))];

/** Every command, by name, in the order of the help. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    status,
    list,
    show,
    explain,
    open,
    watch,
    events,
    ...Object.fromEntries(verbs.map((verb) => [verb.word, onResource(verb)])),
    drain,
    resume,
    close,
    set: maintenance('set', 'Puts servers into maintenance.'),
    clear: maintenance('clear', 'Takes servers out of maintenance.'),
    patch,
    create,
    delete: deletion,
    history,
    why,
    undo,
    restore: changing({
      does: 'Brings back the configuration right after an entry of the history. Asks first.',
      examples: ['restore 5f0c8e21a9b3.7'],
      arguments: [{ name: 'id' }],
      notes: ['Closed sessions, and users, do not come back.'],
      change: ({ words: [id = ''] }) => ({
        title: `restore the configuration after ${id}`,
        act: 'history.restore',
        given: [id],
        shown: 'before',
      }),
    }),
    plan,
    apply,
    check,
    export: exportDocument,
    user: changing({
      does: 'Adds an admin user, changes a password, or deletes a user. Asks before it deletes.',
      examples: ['user add janedoe', 'user password ada --new-password-file FILE', 'user delete janedoe'],
      arguments: [
        { name: 'what', choices: ['add', 'password', 'delete'] },
        { name: 'name', names: { password: 'user', delete: 'user' } },
      ],
      options: {
        'new-password-file': {
          value: 'FILE',
          does: 'file with the new password; otherwise it is asked for twice',
        },
      },
      notes: [
        'A password is never an argument, because other users of the machine can read arguments.',
        'Without a terminal, the new password is read from the standard input.',
      ],
      change: (call) => (client) => ofUser(call, client),
    }),
    commands: {
      does: 'Lists the commands in flight.',
      examples: ['commands'],
      options: connectionOptions,
      run: (call) => list.run({ ...call, words: ['commands'] }),
    },
    abandon: changing({
      does: 'Frees the resources of a command whose outcome is unknown. Asks first.',
      examples: ['abandon 5f0c8e21a9b3.7'],
      arguments: [{ name: 'id', names: { '': 'command' } }],
      notes: ['A late call can still take effect. Then the gateway is made as the interface shows it.'],
      change: ({ words: [id = ''] }) => ({
        title: `abandon the command ${id}`,
        act: 'commands.abandon',
        given: [id],
      }),
    }),
    retry: changing({
      does: 'Lets the gateway of a node of a fleet follow at once what it has not followed yet.',
      examples: ['retry'],
      change: () => ({ title: 'let the gateway follow the fleet', act: 'fleet.retry' }),
    }),
    forget: changing({
      does: 'Takes a node that will not come back out of the fleet, and ends its commands. Asks first.',
      examples: ['forget node-3'],
      arguments: [{ name: 'node', names: { '': 'node' } }],
      notes: [
        'A node that runs is refused: end its process first. If it starts again, it is a node of the fleet again.',
      ],
      change: ({ words: [node = ''] }) => ({
        title: `forget the node ${node}`,
        subject: subjectOf('node', node),
        act: 'fleet.forget',
        given: [node],
      }),
    }),
    flush: changing({
      does: 'Writes pending messages of the logs to disk, and reopens the log files.',
      examples: ['flush'],
      change: () => ({ title: 'flush the logs', act: 'gateway.flushLogs' }),
    }),
    hold: changing({
      does: 'Makes the interface read-only: every change is refused.',
      examples: ["hold --reason 'new disks'"],
      options: { reason: { value: 'TEXT', does: 'why, for everybody who is refused' } },
      change: (call) => ({
        title: 'make the interface read-only',
        act: 'interface.hold',
        ...readOnly(true, call.valueOf('reason')),
      }),
    }),
    release: changing({
      does: 'Ends the read-only mode of the interface.',
      examples: ['release'],
      change: () => ({
        title: 'end the read-only mode of the interface',
        act: 'interface.patch',
        ...readOnly(false),
      }),
    }),
    context,
    seal,
    'hash-password': hashPassword,
    completion,
  } satisfies Readonly<Record<string, Command>>),
);

/** The command of a verb, for every kind of resource that has it. */
function onResource({ word, does, note }: Verb): Command {
  const subjects = subjectsWith(word);
  const kinds = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    subjects[0].choices.map((kind) => `${kind}s`),
  );
  return changing({
    does: [`${does} ${kinds}.`, note].filter(Boolean).join(' '),
    arguments: subjects,
    options: subjectOptions,
    examples: [
      `${word} service sales`,
      `${word} service sales reports`,
      `${word} service --where servers=db-1`,
    ],
    change(call) {
      const [kind = '', ...names] = call.words;
      const act = `${kind}s.${word}` as CommandId;
      return onEach(call, { verb: word, kind, names }, (text) => ({ title: `${word} ${text}`, act }));
    },
  });
}

function maintenance(verb: 'set' | 'clear', does: string): Command {
  return changing({
    does,
    arguments: [
      { name: 'kind', choices: ['server'] },
      { name: 'name', names: { server: 'server' }, optional: true, multiple: true },
      { name: 'status', choices: ['maintenance'] },
    ],
    options: subjectOptions,
    examples: [`${verb} server db-1 maintenance`, `${verb} server maintenance --where parameters.zone=b`],
    change(call) {
      const subjects = { verb, kind: 'server', names: call.words.slice(1, -1) };
      const act = `servers.${verb}Maintenance` as const;
      return onEach(call, subjects, (text) => ({ title: `${verb} maintenance of ${text}`, act }));
    },
  });
}

function readOnly(value: boolean, reason?: string): Pick<AskedAct, 'id' | 'given'> {
  const why = reason === undefined ? [] : [{ op: 'add', path: '/read_only_reason', value: reason }];
  return { id: 'interface.patch', given: [[{ op: 'replace', path: '/read_only', value }, ...why]] };
}

async function ofUser(call: Call, client: Client): Promise<AskedAct> {
  const [what = '', name = ''] = call.words;
  const subject = subjectOf('user', name);
  if (what === 'delete') return { title: `delete user ${name}`, subject, act: 'users.delete', given: [name] };
  const act = what === 'add' ? 'users.create' : 'users.patch';
  const question = `New password of ${safeText(name)} ${whereText(act, await placeOf(call, client))}: `;
  const password = await readNewPassword(call.valueOf('new-password-file'), call, question);
  if (what === 'add') return { title: `add user ${name}`, subject, act, given: [{ name, password }] };
  const operations = [{ op: 'replace', path: '/password', value: password }];
  return { title: `change the password of ${name}`, subject, act, given: [name, operations] };
}
