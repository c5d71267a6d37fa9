/**
 * Open consoles: what they cost the gateway. Each console is the watch of the page, with its own stream of events and its own
 * requests, as in the visible tab of a browser.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { build } from 'esbuild';

import { launchChromium } from './chromium.mjs';

export const rows = {
  V1: {
    title: '100 open consoles over 1,000,000 sessions: CPU and heap of the gateway; the first list',
    run: consoles,
  },
};

/**
 * A collection of the whole heap costs some 1.6 s of CPU time at 1,000,000 sessions, and one begins whenever a gateway has had
 * little to do for eight seconds. In a round it would be all that is measured, so it is done between the rounds.
 */
const noWholeCollection = ['--no-memory-reducer', '--heap-growing-percent=400'];

const count = 100;
const roundMs = 12_000;
/** How long until every console has read everything once. */
const settleMs = 4000;

async function consoles(row) {
  const page = await bundledWatch();
  const gateway = fork(new URL('console-gateway.mjs', import.meta.url), ['1000000'], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192', ...noWholeCollection],
  });
  const [port] = await once(gateway, 'message');
  const address = `http://127.0.0.1:${String(port)}`;
  try {
    const [shares, heaps] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      const alone = await usageOf(gateway);
      const open = await Promise.all(Array.from({ length: count }, () => page.openWatch(address)));
      await sleep(settleMs);
      const watched = await usageOf(gateway);
      shares.push(100 * (watched.share - alone.share));
      heaps.push((watched.heap - alone.heap) / 1e6);
      for (const each of open) each.stop();
      await sleep(1000);
    }
    row.atMost('CPU beyond the gateway alone, of a core', 1, shares, '%');
    row.atMost('heap beyond the gateway alone', 50, heaps, 'MB');
    row.atMost('first list on the screen after the start of the page', 300, await firstLists(address), 'ms');
  } finally {
    gateway.kill();
  }
}

/** How long after the start of the page the first list is on the screen, in milliseconds. */
async function firstLists(address) {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.addInitScript(() => {
      new MutationObserver(() => {
        if (document.querySelector('tbody tr') !== null) globalThis.firstList ??= performance.now();
      }).observe(document, { childList: true, subtree: true });
    });
    const times = [];
    for (let visit = 0; visit < 8; visit += 1) {
      await page.goto(`${address}/console`);
      await page.waitForFunction(() => globalThis.firstList !== undefined);
      times.push(await page.evaluate(() => globalThis.firstList));
    }
    // Once the browser is warm.
    return times.slice(1);
  } finally {
    await browser.close();
  }
}

/** The share of a core that the gateway uses over a round, and its heap after. */
async function usageOf(gateway) {
  // The memory is freed after the CPU time is read, and the round begins when that is done.
  await ask(gateway);
  const before = await ask(gateway, 'cpu');
  const start = performance.now();
  await sleep(roundMs);
  const elapsedUs = (performance.now() - start) * 1000;
  const after = await ask(gateway);
  return { share: (after.cpuUs - before.cpuUs) / elapsedUs, heap: after.heap };
}

async function ask(gateway, what = 'cpu and heap') {
  gateway.send(what);
  const [usage] = await once(gateway, 'message');
  return usage;
}

/** The watch of the page, as a module for Node. */
async function bundledWatch() {
  const place = mkdtempSync(join(tmpdir(), 'console-'));
  const outfile = join(place, 'watch.mjs');
  await build({
    stdin: { contents: watchModule, resolveDir: process.cwd(), loader: 'ts' },
    ...{ outfile, bundle: true, platform: 'neutral', mainFields: ['module', 'main'] },
    alias: {
      'gateway-admin-core/client': join(process.cwd(), 'src/client/index.ts'),
    },
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(place, { recursive: true });
  }
}

const watchModule = `
  import { connect } from './console/connection.ts';
  import { createModel, reduce } from './console/model.ts';
  import { watch } from './console/watch.ts';

  // Browsers on this machine count http://127.0.0.1 as secure.
  globalThis.isSecureContext = true;

  export async function openWatch(address: string) {
    const client = await connect(address);
    let model = createModel(performance.now());
    const tell = (message) => { model = reduce(model, message); };
    const surroundings = {
      now: () => performance.now(),
      isHidden: () => false,
      onChange: () => undefined,
      onLeave: () => undefined,
    };
    // Consoles of one browser would share one stream.
    const name = String(Math.random());
    return watch(client, name, { tell, model: () => model, wanted: () => undefined }, surroundings);
  }
`;
