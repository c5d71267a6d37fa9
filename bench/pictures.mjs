/**
 * Measures what growing numbers cost, here and elsewhere, and draws it: `npm run bench:pictures` writes `figures.json`, the
 * pictures `docs/pictures/*.svg` and the tables of `docs/performance.md`. `-- --draw` draws the figures that are there, and
 * `-- --check` says which picture or table is not that of the figures.
 *
 * Each number of sessions is measured in a process of its own. A time is the least of several samples of CPU time.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';

import prettier from 'prettier';

import { drawChart, duration } from './chart.mjs';

const sizes = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const resources = [50, 500, 5000];
const [root, figuresFile] = [new URL('../', import.meta.url), new URL('figures.json', import.meta.url)];
const page = 'docs/performance.md';
/** Who has which colour in the pictures about sessions, by a part of the name. What remains is ours. */
const peers = ['immer', 'Immutable.js', 'sorted-btree', 'Map'];
const across = 'sessions that are open';

const pictures = {
  growth: {
    title: 'One operation, by the size of the configuration',
    subtitle: 'calls of functions: the same on every machine',
    across: 'resources of each kind',
    format: (calls) => Number(calls.toPrecision(2)).toLocaleString('en'),
  },
  connect: {
    title: 'One session opens, with two connections',
    subtitle: 'CPU time; every earlier snapshot stays as it was, except with mutable Maps',
    across,
    format: duration,
  },
  page: {
    title: 'The last 100 sessions of the list',
    subtitle: 'CPU time; a page by its position, as in GET /sessions?range=999900-999999',
    across,
    format: duration,
  },
  service: {
    title: 'All sessions of one of 100 services',
    subtitle: 'CPU time; a hundredth of all sessions is read',
    across,
    format: duration,
  },
};

if (process.send !== undefined) await measureSize(Number(process.argv[2]));
else if (process.argv.includes('--check')) await check();
else {
  if (!process.argv.includes('--draw')) await measureAll();
  for (const [path, text] of Object.entries(await drawn())) writeFileSync(new URL(path, root), text);
  console.log('docs/pictures/ has the new pictures. Look at each before you commit.');
}

/** Says which pictures and tables are not those of the figures, and fails if there are any. */
async function check() {
  const differing = Object.entries(await drawn()).filter(
    ([path, text]) => readFileSync(new URL(path, root), 'utf8') !== text,
  );
  for (const [path] of differing) console.log(`${path} is not what figures.json gives.`);
  process.exitCode = Math.min(differing.length, 1);
}

/** The pictures, and the page with the tables, by their paths. */
async function drawn() {
  const figures = JSON.parse(readFileSync(figuresFile, 'utf8'));
  const files = {};
  let text = readFileSync(new URL(page, root), 'utf8');
  for (const [picture, chart] of Object.entries(pictures)) {
    const lines = Object.entries(figures[picture]).map(([name, points], at) => ({
      ...{ name, points, colour: picture === 'growth' ? at : colourOf(name) },
    }));
    files[`docs/pictures/${picture}.svg`] = drawChart({ ...chart, lines });
    // The table stands behind its picture.
    const place = new RegExp(`(\\(pictures/${picture}\\.svg\\)\n\n)(?:\\|.*\n)+`);
    text = text.replace(place, (_table, before) => before + tableOf(chart, lines));
  }
  return { ...files, [page]: await formatted(page, text) };
}

async function formatted(path, text) {
  return prettier.format(text, { ...(await prettier.resolveConfig(new URL(path, root))), filepath: path });
}

/** The first and the last point of each line, for those who do not see the picture. */
function tableOf({ across: what, format }, lines) {
  const shown = (points) => [points.at(0), points.at(-1)];
  const counts = shown(lines[0].points).map(([count]) => count.toLocaleString('en'));
  const rows = [
    [what, ...counts],
    ['-', ...counts.map(() => '-')],
    ...lines.map(({ name, points }) => [name, ...shown(points).map(([, cost]) => format(cost))]),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

async function measureAll() {
  const figures = { growth: await callsOf() };
  for (const size of sizes) {
    const times = await timesOf(size);
    console.log(`${size.toLocaleString('en')} sessions`);
    for (const [picture, medians] of Object.entries(times)) {
      const cells = Object.entries(medians).map(([name, us]) => `${name} ${us.toFixed(2)}`);
      console.log(`    ${picture.padEnd(10)}${cells.join(', ')} µs`);
      for (const [name, us] of Object.entries(medians))
        ((figures[picture] ??= {})[name] ??= []).push([size, Number(us.toPrecision(3))]);
    }
  }
  writeFileSync(figuresFile, await formatted('bench/figures.json', JSON.stringify(figures)));
}

/** The calls of some operations, by the number of resources. */
async function callsOf() {
  const { callsWith } = await import('./counts.mjs');
  return callsWith(resources, [
    'GET of all services',
    'PATCH that a node follows',
    'drain and resume of one server',
    'PATCH of one service',
    'GET /services/:name',
  ]);
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
  for (const picture of Object.keys(costs)) times[picture] = await costs[picture](size);
  process.send(times, () => process.exit());
}
