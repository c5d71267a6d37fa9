/**
 * Worlds of the page: a short walk over a page of its own, which waits for what each step leads to. A walk that fails is
 * told with as few steps as show the fault.
 */
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import type { Random } from 'gateway-admin-core/testing';

import { simulateWorld, type Kind, type Unit } from '../scenario/world.ts';
import { findChromium, launch } from '../support/chromium.ts';
import { Walker } from './walk.ts';

const length = 40;

let opening: Promise<Browser> | undefined;

/** Runs the world of a seed. The first one opens a browser, which `close` closes. */
export async function simulate(seed: number): Promise<readonly string[]> {
  const browser = await (opening ??= openBrowser());
  return simulateWorld(kindIn(browser), seed);
}

export async function close(): Promise<void> {
  await (await opening)?.close();
}

async function openBrowser(): Promise<Browser> {
  const found = await findChromium();
  if (found === undefined) throw new Error('There is no Chromium. Name one in CHROMIUM_PATH.');
  return launch(chromium, found);
}

function kindIn(browser: Browser): Kind<Walker> {
  const contexts = new Map<Walker, BrowserContext>();
  return {
    async open() {
      const context = await browser.newContext();
      const walker = await Walker.open(await context.newPage(), true);
      contexts.set(walker, context);
      return walker;
    },
    async close(walker) {
      // First, because a page says that it does not reach its interface.
      await contexts.get(walker)?.close();
      contexts.delete(walker);
      await walker.close();
    },
    draw,
    isOver: ({ faults }) => faults.length > 0,
    simpler: () => [],
    faults: async (walker) => {
      if (walker.faults.length === 0) await walker.rest();
      if (walker.faults.length === 0) await walker.reload();
      return [...walker.faults];
    },
  };
}

function* draw(random: Random, walker: Walker): Generator<Unit> {
  for (let number = 0; number < length; number += 1) {
    for (const text of walker.drawWorld(random)) yield [text];
    for (const text of walker.draw(random)) yield [text];
    if (number % 10 === 9) yield ['rest'];
  }
}
