/**
 * Draws what a growing number of sessions costs, here and elsewhere: `npm run bench:pictures` writes `docs/pictures/*.svg`.
 *
 * Each size is measured in a process of its own. A time is the least of several samples of CPU time.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';

import { drawChart } from './chart.mjs';

const sizes = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const folder = new URL('../docs/pictures/', import.meta.url);
const across = 'sessions that are open';
/** Who has which colour in every picture, by a part of the name. What remains is ours. */
const peers = ['immer', 'Immutable.js', 'sorted-btree', 'Map'];

const pictures = {
  connect: {
    title: 'One session opens, with two connections',
    subtitle: 'CPU time; every earlier snapshot stays as it was, except with mutable Maps',
    across,
  },
  page: {
    title: 'The last 100 sessions of the list',
    subtitle: 'CPU time; a page by its position, as in GET /sessions?range=999900-999999',
    across,
  },
  service: {
    title: 'All sessions of one of 100 services',
    subtitle: 'CPU time; a hundredth of all sessions is read',
    across,
  },
};

if (process.send === undefined) await drawAll();
else await measureSize(Number(process.argv[2]));

async function drawAll() {
  const points = {};
  for (const size of sizes) {
    const times = await timesOf(size);
    console.log(`${size.toLocaleString('en')} sessions`);
    for (const [picture, medians] of Object.entries(times)) {
      const cells = Object.entries(medians).map(([name, us]) => `${name} ${us.toFixed(2)}`);
      console.log(`    ${picture.padEnd(10)}${cells.join(', ')} µs`);
      for (const [name, us] of Object.entries(medians))
        ((points[picture] ??= {})[name] ??= []).push([size, us]);
    }
  }
  mkdirSync(folder, { recursive: true });
  for (const [picture, chart] of Object.entries(pictures)) {
    const lines = Object.entries(points[picture]).map(([name, each]) => ({
      name,
      colour: colourOf(name),
      points: each,
    }));
    writeFileSync(new URL(`${picture}.svg`, folder), drawChart({ ...chart, lines }));
  }
  console.log('docs/pictures/ has the new pictures. Look at each before you commit.');
}

function colourOf(name) {
  return peers.findIndex((peer) => name.includes(peer)) + 1;
}

async function timesOf(size) {
  const child = fork(new URL(import.meta.url), [String(size)], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The measurement of ${size} sessions has ended with ${code}`);
  });
  const [times] = await Promise.race([once(child, 'message'), ended]);
  return times;
}

async function measureSize(size) {
  const { costs } = await import('./growth.mjs');
  const times = {};
  for (const picture of Object.keys(pictures)) times[picture] = await costs[picture](size);
  process.send(times, () => process.exit());
}
