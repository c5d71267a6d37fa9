/**
 * The playground in a browser: from a web server, or from disk.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

import { afterAll } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';

import { readLink } from '../../examples/playground/link.ts';
import { root } from '../support/project.ts';

/** Where the build puts the playground. */
export const folder = `${root}examples/dist/playground`;

export const files = ['index.html', 'playground.js', 'playground.css'];

const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill();
});

/** Builds and serves a playground as `npm run play` does, with options of the build. Gives its address. */
export async function play(...options: readonly string[]): Promise<string> {
  const env = { ...process.env, PORT: '0' };
  const child = spawn(process.execPath, ['scripts/play.js', ...options], { cwd: root, env });
  running.push(child);
  for await (const line of createInterface(child.stdout)) {
    const [, address] = /^The playground is at (\S+)$/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('The playground is not served');
}

/** The world in a page, as a person sees it. */
export class Played {
  /** What the page asked the network for, and what it complained about. */
  readonly complaints: string[] = [];
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
  }

  /** Opens a playground. The world has begun then, and stands still. */
  async open(address: string): Promise<this> {
    await this.page.goto(address);
    await this.panel.locator('.steps .now').waitFor({ state: 'attached' });
    await this.pause();
    return this;
  }

  get panel(): Locator {
    return this.page.getByRole('complementary', { name: 'The world' });
  }

  /** Stops the time, unless it stands still. */
  async pause(): Promise<void> {
    const time = this.panel.locator('.bar .primary');
    if ((await time.innerText()) === 'Pause') await time.click();
    await time.getByText('Run').waitFor();
  }

  button(name: string): Locator {
    return this.panel.getByRole('button', { name, exact: true });
  }

  /** A button of a group. */
  of(title: string | RegExp, name: string): Locator {
    return this.panel.getByRole('group', { name: title }).getByRole('button', { name, exact: true });
  }

  /** Does a step, which is the last one then. */
  async perform(step: string): Promise<void> {
    await this.panel.getByLabel('Any step').fill(step);
    await this.button('Do').click();
    await this.panel.locator('.steps .now').getByText(step, { exact: true }).waitFor();
  }

  /** Waits until the judge has judged all steps. */
  async judged(): Promise<string> {
    const bar = this.panel.locator('.bar');
    await bar.getByText(/(\d+) of \1 steps|A law is broken/).waitFor();
    return bar.innerText();
  }

  /** Does all steps that are ahead, one after the other. */
  async stepThrough(): Promise<void> {
    const ahead = this.panel.locator('.steps .ahead');
    await ahead.first().waitFor();
    for (let left = await ahead.count(); left > 0; left -= 1) {
      await this.button('Step').click();
      await this.page.waitForFunction(
        (most) => document.querySelectorAll('.steps .ahead').length < most,
        left,
      );
    }
  }

  /** The address, once it has all steps, which are done. */
  async address(): Promise<string> {
    const steps = await this.panel.locator('.steps li > code:first-child').allInnerTexts();
    for (;;) {
      const url = this.page.url();
      const linked = await readLink(new URL(url).hash);
      if (linked?.done === steps.length && linked.steps.join('\n') === steps.join('\n')) return url;
      await this.page.waitForURL((next) => next.href !== url);
    }
  }

  /** The scenario as the panel exports it. */
  async exported(): Promise<string> {
    await this.button('Export as scenario').click();
    const text = await this.panel.getByLabel('Text of the scenario').inputValue();
    await this.button('Close').click();
    return text;
  }

  /** Opens a file with scenarios. */
  async openFile(text: string): Promise<void> {
    const file = { name: 'scenario.txt', mimeType: 'text/plain', buffer: Buffer.from(text) };
    await this.panel.getByLabel('Open or drop a file').setInputFiles(file);
    await this.panel.getByLabel('Text of the scenario').waitFor();
  }
}
