/**
 * Compares a gateway document with the gateway, and prints what differs. Ends with 0 if nothing does, with 6 if something
 * does, and with 4 if the gateway cannot be reached.
 *
 *     node drift.js gateway.json
 */
import { readFile } from 'node:fs/promises';

import { changedParts, valueOf } from 'gateway-admin-core/client';

import { client } from './gateway.ts';

const [, , file = 'gateway.json'] = process.argv;
const document: object = JSON.parse(await readFile(file, 'utf8'));
const answer = await client.document.adopt.plan(document, { prune: true }).catch((error: unknown) => {
  console.error(String(error));
  process.exit(4);
});
const { outcome, events } = valueOf(answer);
for (const event of events) {
  console.log(event.type, event.resource);
  for (const { path, from, to } of changedParts(event, JSON.stringify)) console.log(' ', path, from, '>', to);
}
process.exitCode = outcome === 'unchanged' ? 0 : 6;
