/**
 * The commands of operators: start and stop, flush the logs, hold changes off, abandon a command, let a node follow its
 * fleet, forget a node.
 */
import type { ActId, CommandId } from '../client/index.ts';
import { make } from './change.ts';
import { changeOptions, connectionOptions, type Command } from './command.ts';
import { connect } from './connection.ts';
import { kindsWith } from './kind.ts';
import { list } from './reading.ts';
import { subjectOf } from './subject.ts';

const startable = kindsWith('start');

function lifecycleCommand(verb: 'start' | 'stop', does: string): Command {
  return {
    does,
    arguments: [
      { name: 'kind', choices: Object.keys(startable) },
      { name: 'name', names: startable },
    ],
    options: changeOptions,
    async run(call) {
      const [kind = '', name = ''] = call.words;
      const id = `${kind}s.${verb}` as CommandId;
      const subject = subjectOf(kind, name);
      await make(call, await connect(call), { title: `${verb} ${kind} ${name}`, subject, id, given: [name] });
    },
  };
}

/** The command `start`. */
export const start = lifecycleCommand('start', 'Starts a service or a monitor.');

/** The command `stop`. */
export const stop = lifecycleCommand('stop', 'Stops a service or a monitor. Open sessions continue.');

/** The command `flush`. */
export const flush: Command = {
  does: 'Writes pending messages of the logs to disk, and reopens the log files.',
  options: changeOptions,
  async run(call) {
    await make(call, await connect(call), { title: 'flush the logs', id: 'gateway.flushLogs', given: [] });
  },
};

function modeCommand(isReadOnly: boolean, act: ActId, title: string, does: string): Command {
  return {
    does,
    options: changeOptions,
    async run(call) {
      const operations = [{ op: 'replace', path: '/read_only', value: isReadOnly }];
      await make(call, await connect(call), { title, id: 'interface.patch', act, given: [operations] });
    },
  };
}

/** The command `hold`. */
export const hold = modeCommand(
  true,
  'interface.hold',
  'make the interface read-only',
  'Makes the interface read-only: every change is refused.',
);

/** The command `release`. */
export const release = modeCommand(
  false,
  'interface.patch',
  'end the read-only mode of the interface',
  'Ends the read-only mode of the interface.',
);

/** The command `commands`. */
export const commandsInFlight: Command = {
  does: 'Lists the commands in flight.',
  options: connectionOptions,
  run: (call) => list.run({ ...call, words: ['commands'] }),
};

/** The command `abandon`. */
export const abandon: Command = {
  does: 'Frees the resources of a command whose outcome is unknown. Asks first.',
  arguments: [{ name: 'id', names: { '': 'command' } }],
  options: changeOptions,
  notes: ['Abandon a command only if you know what the gateway does: a late call can still take effect.'],
  async run(call) {
    const [id = ''] = call.words;
    const client = await connect(call);
    const title = `abandon the command ${id}`;
    await make(call, client, { title, id: 'commands.abandon', given: [id] });
  },
};

/** The command `retry`. */
export const retry: Command = {
  does: 'Lets the gateway of a node of a fleet follow at once what it has not followed yet.',
  options: changeOptions,
  async run(call) {
    const title = 'let the gateway follow the fleet';
    await make(call, await connect(call), { title, id: 'fleet.retry', given: [] });
  },
};

/** The command `forget`. */
export const forget: Command = {
  does: 'Takes a node that will not come back out of the fleet, and ends its commands. Asks first.',
  arguments: [{ name: 'node', names: { '': 'node' } }],
  options: changeOptions,
  notes: [
    'A node that runs is refused: end its process first. If it starts again, it is a node of the fleet again.',
  ],
  async run(call) {
    const [node = ''] = call.words;
    const client = await connect(call);
    await make(call, client, {
      title: `forget the node ${node}`,
      subject: subjectOf('node', node),
      id: 'fleet.forget',
      given: [node],
    });
  },
};
