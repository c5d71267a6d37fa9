/**
 * `user`: the admin users.
 */
import type { Client } from '../client/index.ts';
import { make } from './change.ts';
import { changeOptions, type Call, type Command } from './command.ts';
import { connect } from './connection.ts';
import { readNewPassword } from './input.ts';
import { safeText } from './output.ts';
import { placeOf, whereText } from './place.ts';
import type { Change } from './plan.ts';
import { subjectOf } from './subject.ts';

/** The command `user`. */
export const user: Command = {
  does: 'Adds an admin user, changes a password, or deletes a user. Asks before it deletes.',
  arguments: [
    { name: 'what', choices: ['add', 'password', 'delete'] },
    { name: 'name', names: { password: 'user', delete: 'user' } },
  ],
  options: {
    'new-password-file': {
      value: 'FILE',
      does: 'file with the new password; otherwise it is asked for twice',
    },
    ...changeOptions,
  },
  notes: [
    'A password is never an argument, because other users of the machine can read arguments.',
    'Without a terminal, the new password is read from the standard input.',
  ],
  async run(call) {
    const client = await connect(call);
    await make(call, client, await changeOf(call, client));
  },
};

async function changeOf(call: Call, client: Client): Promise<Change> {
  const [what = '', name = ''] = call.words;
  const subject = subjectOf('user', name);
  if (what === 'delete') return { title: `delete user ${name}`, subject, id: 'users.delete', given: [name] };
  const id = what === 'add' ? 'users.create' : 'users.patch';
  const where = whereText(id, await placeOf(call, client));
  const question = `New password of ${safeText(name)} ${where}: `;
  const password = await readNewPassword(call.valueOf('new-password-file'), call, question);
  if (what === 'add') return { title: `add user ${name}`, subject, id, given: [{ name, password }] };
  const operations = [{ op: 'replace', path: '/password', value: password }];
  return { title: `change the password of ${name}`, subject, id, given: [name, operations] };
}
