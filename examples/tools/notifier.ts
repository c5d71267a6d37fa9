/**
 * Posts each change to a web hook: what has changed, and who has changed it. The id of the last event is in a file, so
 * the tool goes on where it has ended.
 *
 *     node notifier.js https://chat.example/hook notifier.id
 */
import { readFile, rename, writeFile } from 'node:fs/promises';

import { changedParts, type EventStreamItem } from 'gateway-admin-core/client';

import { client } from './gateway.ts';

const [, , hook = '', file = 'notifier.id'] = process.argv;
const after = await readFile(file, 'utf8').catch(() => undefined);
const types = ['service', 'server', 'monitor', 'filter', 'listener', 'user'] as const;
for await (const item of client.events({ after, types })) {
  const body = JSON.stringify({ text: textOf(item) });
  const answer = await fetch(hook, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  if (!answer.ok) throw new Error(`The web hook has answered ${String(answer.status)}.`);
  // A tool that is killed here leaves the id of before, and tells the event again.
  await writeFile(`${file}.new`, item.id);
  await rename(`${file}.new`, file);
}

function textOf(item: EventStreamItem): string {
  if ('gap' in item)
    return item.isRestart
      ? 'The gateway was started again.'
      : `${String(item.missed ?? 'Some')} events were missed.`;
  const { type, resource, actor = 'the gateway' } = item.event;
  const parts = changedParts(item.event, JSON.stringify).map(
    ({ path, from = '', to = '' }) => ` ${path} ${from} > ${to}`,
  );
  return [`${type} ${resource} by ${actor}`, ...parts].join('\n');
}
