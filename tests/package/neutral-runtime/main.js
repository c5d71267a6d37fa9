/**
 * Loads the module named on the command line where there is no Node, and stops a service with it.
 */
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
const entry = process.argv[2];
const { log } = console;
for (const name of ['process', 'Buffer', 'setImmediate', 'clearImmediate', 'global']) delete globalThis[name];

const { createSnapshot, stopService } = await import(entry);
const snapshot = createSnapshot({
  services: [{ name: 'sales', router: 'readconnroute', state: 'started', listeners: [] }],
});
const { outcome, events, effects } = stopService(snapshot, 'sales', { now: 0 });
log(JSON.stringify({ outcome, events, effects, process: typeof globalThis.process }));
