/**
 * Measures every row of the targets, or the rows that are named: `npm run bench`, `npm run bench -- S2 P3`. Prints the
 * least, the median and the most of several samples, whether the target is met, and what has moved by more than a fifth
 * since `bench/ratios.json`. A figure is missed if neither the median nor the best sample meets its target. Exits with 1 if
 * a figure that was met there is missed now by more than noise explains, or if a row could not be measured.
 * `npm run bench -- --accept` writes the figures of this run to `bench/ratios.json`.
 *
 * Each family of rows runs in a process of its own, so that the memory of one does not slow the next.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The family of each row, in the order of the targets. */
const families = {
  day: { ids: ['A1'], load: () => import('./day.mjs') },
  session: { ids: ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S7'], load: () => import('./session.mjs') },
  document: { ids: ['S8'], load: () => import('./document.mjs') },
  membership: { ids: ['S9'], load: () => import('./membership.mjs') },
  transition: { ids: ['T1', 'T2'], load: () => import('./transition.mjs') },
  patch: { ids: ['P1', 'P2', 'P3'], load: () => import('./patch.mjs') },
  request: { ids: ['R1', 'R2', 'R3', 'R4', 'O1'], load: () => import('./request.mjs') },
  command: { ids: ['S10', 'C1', 'C2', 'C3'], load: () => import('./command.mjs') },
  cliff: { ids: ['N1', 'N2', 'N3', 'N4', 'N5'], load: () => import('./cliff.mjs') },
  loopback: { ids: ['L1', 'H1', 'H2', 'H3'], load: () => import('./loopback.mjs') },
  commandLine: { ids: ['K1'], load: () => import('./command-line.mjs') },
  streams: { ids: ['E1'], load: () => import('./streams.mjs') },
  store: { ids: ['D1', 'D2', 'H4'], load: () => import('./store.mjs') },
  postgres: { ids: ['G1', 'G2', 'G3'], load: () => import('./postgres.mjs') },
  console: { ids: ['V1'], load: () => import('./console.mjs') },
  burst: { ids: ['V3'], load: () => import('./burst.mjs') },
  size: { ids: ['B1'], load: () => import('./size.mjs') },
};

/** The change that a shared machine makes to a median without any change of the code. */
const noise = 0.2;

const ratiosFile = new URL('ratios.json', import.meta.url);

if (process.send === undefined) await measureAll(process.argv.slice(2));
else await measureFamily(...process.argv.slice(2));

async function measureFamily(family, ...ids) {
  const { Row, collectGarbage } = await import('./harness.mjs');
  const { rows } = await families[family].load();
  for (const id of ids) {
    const { title, run } = rows[id];
    const row = new Row();
    let error;
    try {
      await run(row);
    } catch (reason) {
      error = String(reason);
    }
    collectGarbage();
    const { figures, notes } = row;
    process.send({ id, title, figures, notes, error });
  }
  process.exit();
}

async function measureAll(given) {
  installPeers();
  const known = rowIds();
  const asked = given.filter((each) => each !== '--accept').map((each) => each.toUpperCase());
  const stranger = asked.find((id) => !known.includes(id));
  if (stranger !== undefined)
    throw new Error(
      `There is no row ${stranger}. The rows are ${known.join(', ')}; M1 is \`time npm test\`.`,
    );
  const accepted = JSON.parse(readFileSync(ratiosFile, 'utf8'));
  const run = { accepted, measured: {}, moved: [], fallen: [], failed: [], missed: 0, count: 0 };
  const start = performance.now();
  for (const [family, { ids }] of Object.entries(families)) {
    const wanted = ids.filter((id) => asked.length === 0 || asked.includes(id));
    if (wanted.length > 0) await measureIn(family, wanted, run);
  }
  if (asked.length === 0) console.log('\nM1  the whole test command on two idle cores: `time npm test`');
  conclude(run, performance.now() - start);
  if (given.includes('--accept')) accept(run);
}

/** The names of all rows, in the order of the targets. */
function rowIds() {
  return Object.values(families).flatMap(({ ids }) => ids);
}

async function measureIn(family, ids, run) {
  const child = fork(new URL(import.meta.url), [family, ...ids], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const left = new Set(ids);
  child.on('message', (row) => {
    left.delete(row.id);
    print(row, run);
  });
  const [code] = await once(child, 'exit');
  for (const id of left)
    print({ id, title: '', figures: [], notes: [], error: `its process ended with ${code}` }, run);
}

function print({ id, title, figures, notes, error }, run) {
  console.log(`\n${id.padEnd(3)} ${title}`);
  for (const figure of figures) {
    const { name, rule, target, unit, least, median, most } = figure;
    const spread = [least, median, most].map((each) => short(each).padStart(8)).join(' ');
    const verdict =
      target === null
        ? ''
        : `${rule} ${target.toLocaleString('en')} ${unit}: ${isMet(figure) ? 'met' : 'MISSED'}`;
    console.log(`    ${name.padEnd(66)} ${spread} ${unit.padEnd(5)} ${verdict}`);
    if (target !== null) note(run, `${id}: ${name}`, figure);
  }
  for (const text of notes) console.log(`    ${text}`);
  if (error === undefined) return;
  console.log(`    FAILED: ${error}`);
  run.failed.push(`${id}: ${error}`);
}

/** Compares a figure with the accepted one. */
function note(run, key, figure) {
  const { median, unit } = figure;
  run.measured[key] = Number(median.toPrecision(4));
  run.count += 1;
  if (!isMet(figure)) run.missed += 1;
  const before = run.accepted[key];
  if (before === undefined) return;
  if (Math.abs(median / before - 1) > noise)
    run.moved.push(`${key}: ${short(before)} → ${short(median)} ${unit}`);
  const wasMet = isMet({ ...figure, least: before, median: before, most: before });
  if (wasMet && !isMet(figure, noise)) run.fallen.push(key);
}

/** The best sample counts beside the median: on a shared machine, noise only ever adds. */
function isMet({ rule, target, least, median, most }, tolerance = 0) {
  if (rule === 'at least') return Math.max(median, most) >= target / (1 + tolerance);
  return Math.min(median, least) <= target * (1 + tolerance);
}

function conclude({ moved, fallen, failed, missed, count }, ms) {
  console.log(`\n${count - missed} of ${count} figures are met. ${(ms / 1000).toFixed(0)} s.`);
  say('Moved by more than a fifth', moved);
  say('Met before, and missed now', fallen);
  say('Not measured', failed);
  if (fallen.length > 0 || failed.length > 0) process.exitCode = 1;
}

function say(what, all) {
  if (all.length > 0) console.log(`${what}:\n  ${all.join('\n  ')}`);
}

function accept({ accepted, measured }) {
  const all = { ...accepted, ...measured };
  const keys = Object.keys(all).toSorted((a, b) => rank(a) - rank(b));
  const ordered = Object.fromEntries(keys.map((key) => [key, all[key]]));
  writeFileSync(ratiosFile, `${JSON.stringify(ordered, undefined, 2)}\n`);
}

function rank(key) {
  return rowIds().indexOf(key.slice(0, key.indexOf(':')));
}

/** Four digits say all that a noisy machine knows. */
function short(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(digits);
}

/** Installs the libraries that only the bench needs. Without them, their rows are left out with a word. */
function installPeers() {
  if (existsSync(new URL('peers/node_modules', import.meta.url))) return;
  console.log('Installing the libraries of bench/peers');
  try {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: new URL('peers', import.meta.url),
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
  } catch {
    console.log('They could not be installed, so the rows that compare with them are incomplete.');
  }
}
