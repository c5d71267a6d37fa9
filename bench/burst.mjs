/**
 * An open page while many events come: whether the page draws more often than the screen, how long the page does not
 * answer a person, and what it keeps.
 */
import { launchChromium } from './chromium.mjs';
import { startProcess } from './process.mjs';

export const rows = {
  V3: { title: '10,000 events in a second at an open page of 600 servers', run: burst },
};

const rounds = 3;

async function burst(row) {
  const { ask, end } = startProcess('burst-gateway.mjs');
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.addInitScript(countDraws);
    await page.goto(`${await ask('address')}/console`);
    await page.locator('tbody tr').nth(599).waitFor();
    await page.locator('.connection.good').waitFor();
    const devtools = await page.context().newCDPSession(page);
    // Warm code takes memory too.
    await send(ask, page, 12_000);
    // All cards of alerts, the most that the page can show.
    await page.getByRole('button', { name: /^Show all/ }).click();
    await send(ask, page, 1000);
    const first = Math.min(...(await heapsOf(page, devtools)));
    const [draws, turns] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
      await page.evaluate(() => globalThis.counts.begin());
      await send(ask, page, 10_000);
      draws.push(await page.evaluate(() => globalThis.counts.drawsOfFrames()));
      turns.push(longestTurn(JSON.parse(await browser.stopTracing())));
    }
    row.atMost('draws for each frame', 1, draws, '');
    row.atMost('longest turn of the page, by the CPU time of its thread', 100, turns, 'ms');
    const last = await heapsOf(page, devtools);
    row.atMost(
      'heap after 30,000 more events',
      1.1,
      last.map((bytes) => bytes / first),
    );
    row.report('heap before these', first / 1e6, 'MB');
  } finally {
    await browser.close();
    await end();
  }
}

/** Counts the frames, and how often the page has changed what is shown, from the beginning of a round. */
function countDraws() {
  const counts = { frames: 0, draws: 0 };
  globalThis.counts = {
    begin: () => Object.assign(counts, { frames: 0, draws: 0 }),
    drawsOfFrames: () => counts.draws / counts.frames,
  };
  new MutationObserver(() => (counts.draws += 1)).observe(document, {
    childList: true,
    subtree: true,
    characterData: true,
  });
  const frame = () => {
    counts.frames += 1;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Makes events in a second, and waits until the page shows the last one. */
async function send(ask, page, events) {
  const last = await ask('burst', { events, ms: 1000 });
  await page
    .locator('.live li')
    .first()
    .filter({ hasText: new RegExp(`${last}$`) })
    .waitFor({ timeout: 600_000 });
}

/**
 * The bytes of the heap of the page, after what is no longer used was freed, once all down servers are shown. Several times,
 * because the page reads a list now and then.
 */
async function heapsOf(page, devtools) {
  await page.waitForFunction(() => document.querySelectorAll('.alerts li').length === 401);
  const bytes = [];
  for (let time = 0; time < 5; time += 1) {
    await page.waitForTimeout(500);
    await devtools.send('HeapProfiler.collectGarbage');
    bytes.push((await devtools.send('Runtime.getHeapUsage')).usedSize);
  }
  return bytes;
}

/** The longest task of the main thread of the page, in milliseconds of its CPU time. */
function longestTurn({ traceEvents }) {
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ pid, tid, tdur }) => tdur !== undefined && mains.has(`${pid} ${tid}`));
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}
