/**
 * The types of the client, under every version of TypeScript that the package supports: what is right compiles, and what is
 * wrong does not.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type * as typescript from 'typescript';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

const directory = join(root, 'temp', 'client-types');
const file = join(directory, 'program.ts');

/** A line with `// wrong` must not compile, and every other line must. */
const program = `
import { createClient, undoOf, type Client, type ShownEvent } from 'gateway-admin-core/client';

declare const client: Client;
declare const event: ShownEvent;

const whole = await client.services.get('Sales');
if (whole.ok) { const state: 'started' | 'stopped' | 'failed' = whole.value.state; void state; }
else { const code: string = whole.problem.code; void code; }
const part = await client.services.get('Sales', { fields: ['name', 'state'] });
if (part.ok) { const name: string = part.value.name; void name; }
const sessions = await client.sessions.list({ range: [0, 99], user: 'ada', fields: ['id'] });
if (sessions.ok) { const [first] = sessions.value.elements; const id: number | undefined = first?.id; void id; }
const links = await client.services.sessions('Sales');
if (links.ok) { const all: readonly string[] = links.value.elements; void all; }
await client.services.patch('Sales', [{ op: 'replace', path: '/user', value: 'app' }], { ifMatch: '"1"' });
const plan = await client.services.stop.plan('Sales');
if (plan.ok) { const outcome: 'accepted' | 'unchanged' | 'refused' = plan.value.outcome; void outcome; }
await client.sessions.close(7);
await client.users.create({ name: 'ada', password: 'engine' });
await client.gateway.flushLogs();
const undo = undoOf(event);
if (undo?.id === 'services.patch') await client.services.patch(...undo.given);
for await (const item of client.events({ types: ['service'] })) if ('event' in item) { const type: string = item.event.type; void type; }

await client.services.get();                                                         // wrong: no name
await client.services.get(7);                                                        // wrong: a number for a name
await client.sessions.get('7');                                                      // wrong: a text for a session id
await client.services.get('Sales', { fields: ['nmae'] });                            // wrong: no such field
await client.services.get('Sales', { range: [0, 1] });                               // wrong: a range of one thing
await client.gateway.tasks({ range: [0, 1] });                                       // wrong: this list has no range
await client.services.list({ user: 'ada' });                                         // wrong: this list finds nothing by user
await client.services.stop('Sales', [{ op: 'remove', path: '/user' }]);              // wrong: a body where none is
await client.services.patch('Sales');                                                // wrong: no operations
await client.services.patch('Sales', [{ op: 'change', path: '/user' }]);             // wrong: no such operation
await client.services.get.plan('Sales');                                             // wrong: a plan of reading
await client.users.create({ name: 'ada' });                                          // wrong: no password
await client.users.stop('ada');                                                      // wrong: no such endpoint
if (whole.ok) void whole.problem;                                                    // wrong: no problem in a success
if (part.ok) void part.value.router;                                                 // wrong: this field was not asked for
createClient('http://127.0.0.1');                                                    // wrong: an address is no way to send
`;

beforeAll(() => {
  buildPackage();
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'node_modules'), { recursive: true });
  symlinkSync(root, join(directory, 'node_modules', 'gateway-admin-core'), 'dir');
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  writeFileSync(file, program);
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe.each(['typescript-5.6', 'typescript-5.9', 'typescript'])(
  'the types of the client under %s',
  (version) => {
    it('take what is right, and refuse what is wrong', () => {
      const ts = createRequire(import.meta.url)(version) as typeof typescript;
      const { options } = ts.convertCompilerOptionsFromJson(
        {
          module: 'nodenext',
          target: 'es2022',
          lib: ['es2023', 'dom'],
          types: [],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
          noEmit: true,
        },
        directory,
      );
      const compiled = ts.createProgram([file], options);
      const lines = ts
        .getPreEmitDiagnostics(compiled)
        .map(({ file: at, start = 0, messageText }) =>
          at?.fileName.endsWith('program.ts') === true
            ? at.getLineAndCharacterOfPosition(start).line
            : ts.flattenDiagnosticMessageText(messageText, ' '),
        );
      const wrong = program.split('\n').flatMap((line, at) => (line.includes('// wrong') ? [at] : []));
      expect([...new Set(lines)]).toEqual(wrong);
    });
  },
);
