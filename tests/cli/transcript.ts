/**
 * Transcripts: what a person types, and below each line, indented, what the program prints and what reaches the gateway.
 * They have the form of scenarios. Lines of the standard error have a `!`, and effects have an arrow.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach } from '@jest/globals';
import {
  createRoles,
  createSecretSealer,
  createSnapshot,
  EffectRefusedError,
  type Admin,
  type GatewayDocument,
  type HostReport,
} from 'gateway-admin-core';
import type { ApplyWay } from 'gateway-admin-core/testing';

import { playScenario, type Player } from '../scenario/play.ts';
import type { Scenario, ScenarioFile } from '../scenario/scenario.ts';
import { read } from '../support/project.ts';
import { appliedTo, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { command, servers, wordsOf } from './command-line.ts';

const serve = servers(afterEach);

const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const ownVersion = new RegExp(`(version\\W+)${version.replaceAll('.', '\\.')}`, 'g');

const ways: Readonly<Record<string, () => ApplyWay>> = {
  'do it': () => 'done',
  'refuse it': () => new EffectRefusedError('Busy'),
};

function wayNamed(name: string): ApplyWay {
  const make = ways[name];
  if (make === undefined) throw new Error(`No way is "${name}"; these are: ${Object.keys(ways).join(', ')}`);
  return make();
}

/** A person with a terminal, in front of a gateway. */
class Desk implements Player {
  readonly directory = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
  options: NonNullable<Parameters<typeof runAdmin>[0]> = {
    name: 'eu-1',
    sealer: createSecretSealer({ key: new Uint8Array(32) }),
  };
  /** The steps that happen between the next plan and its command. */
  meanwhile: string[] = [];
  /** The interface that answers now. */
  admin: Admin | undefined;
  /** Whether the address leads to nobody. */
  isAlone = false;
  #seen: string[] = [];
  #served: Promise<Running & { readonly url: string }> | undefined;
  #told = 0;

  running(): Promise<Running & { readonly url: string }> {
    return (this.#served ??= this.#serve());
  }

  async #serve(): Promise<Running & { readonly url: string }> {
    const running = runAdmin(this.options);
    this.admin = running.admin;
    const handle: Admin['handle'] = async (request) => {
      if (/[?&]mark=/.test(request.target)) await this.#playMeanwhile();
      return this.admin?.handle(request) ?? { matched: false };
    };
    return { ...running, url: await serve({ ...running.admin, handle }) };
  }

  async #playMeanwhile(): Promise<void> {
    const before = this.#seen;
    this.#seen = [];
    for (const step of this.meanwhile.splice(0)) await this.perform(step);
    this.#seen = before;
  }

  takeSeen(): readonly string[] {
    return this.#seen.splice(0);
  }

  async perform(text: string): Promise<void> {
    for (const [form, play] of steps) {
      const found = form.exec(text);
      if (found !== null) {
        await play(this, ...found.slice(1));
        return;
      }
    }
    throw new Error(`No step is "${text}"`);
  }

  async type(line: string, isTerminal: boolean): Promise<void> {
    const { gateway, ...served } = await this.running();
    const url = this.isAlone ? 'http://127.0.0.1:1' : served.url;
    const [words = '', input = ''] = line.split(' <<< ');
    const printed = { out: '', all: '' };
    const { code } = await command(
      wordsOf(words).map((word) => word.replace(/(?<=^|=)@/, `${this.directory}/`)),
      {
        input: input.replaceAll('⏎', '\n').replaceAll('^C', '\x03').replaceAll('^D', '\x04'),
        env: { GATEWAY_ADMIN_URL: url, XDG_CONFIG_HOME: this.directory },
        isTerminal,
        record(part, stream) {
          const text = withoutControls(part);
          if (stream === 'out') printed.out += text;
          const begins = printed.all === '' || printed.all.endsWith('\n');
          printed.all += stream === 'err' && begins ? text.replaceAll(/(?<=^|\n)(?=[^])/g, '! ') : text;
        },
      },
    );
    this.#seen.push(...this.#lines(printed, url), ...(code === 0 ? [] : [`[${String(code)}]`]));
    this.#seen.push(
      ...appliedTo(gateway)
        .slice(this.#told)
        .map((effect) => `→ ${effect}`),
    );
    this.#told = gateway.applied.length;
  }

  /** The lines that a person sees; JSON on one line. */
  #lines({ out, all }: { readonly out: string; readonly all: string }, url: string): readonly string[] {
    const text = all
      .replace(out, onOneLine(out))
      .replaceAll(url, 'URL')
      .replaceAll(new URL(url).host, 'HOST')
      .replaceAll(`${this.directory}/`, '@')
      .replaceAll(ownVersion, '$1VERSION')
      // No two sealings of one secret give one text, so neither do their contents.
      .replaceAll(/(?<![\w-])[\w-]{22}(?=\.sample-\d)/g, 'CONTENT');
    if (text === '') return [];
    const lines = text.split('\n').map((line) => line.trimEnd() || '~');
    return text.endsWith('\n') ? lines.slice(0, -1) : [...lines, '(no newline)'];
  }
}

function onOneLine(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text))}\n`;
  } catch {
    return text;
  }
}

/** A text without styles and places of the cursor, and without a progress, which depends on the time. */
function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- They are control characters.
  return text.replaceAll(/\r\x1b\[K[^\r\n]*|\x1b\[\d*\w|\r/g, '');
}

const steps: readonly (readonly [form: RegExp, play: (desk: Desk, ...given: string[]) => unknown])[] = [
  // What the interface begins with, in place of the sample document and a gateway with a name.
  [
    /^document (.*)$/,
    (desk, json = '') => {
      desk.options = {
        ...desk.options,
        snapshot: createSnapshot(JSON.parse(json) as GatewayDocument, { epoch: 'sample' }),
      };
    },
  ],
  [
    /^interface (.*)$/,
    (desk, json = '') => {
      // `null` takes an option away.
      const options = Object.entries({ ...desk.options, ...(JSON.parse(json) as object) });
      desk.options = Object.fromEntries(options.filter(([, value]) => value !== null));
    },
  ],
  [
    /^restart$/,
    async (desk) => {
      const { admin, gateway } = await desk.running();
      await admin.close();
      desk.admin = runAdmin({ ...desk.options, gateway }).admin;
    },
  ],
  [
    /^gateway supports nothing$/,
    (desk) => {
      desk.options = { ...desk.options, gateway: Object.assign(sampleGateway(), { supports: [] }) };
    },
  ],
  [
    /^nobody answers$/,
    (desk) => {
      desk.isAlone = true;
    },
  ],
  [
    /^user (.*)$/,
    (desk, name = '') => {
      desk.options = {
        ...desk.options,
        access: { ...desk.options.access, authenticate: () => Promise.resolve({ name }) },
      };
    },
  ],
  [
    /^roles (.*)$/,
    (desk, json = '') => {
      const authorize = createRoles(JSON.parse(json) as Parameters<typeof createRoles>[0]);
      desk.options = { ...desk.options, access: { ...desk.options.access, authorize } };
    },
  ],
  [
    /^file (\S+): (.*)$/,
    ({ directory }, name = '', text = '') => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
    },
  ],
  [
    /^report (.*)$/,
    async (desk, json = '') => {
      await desk.running();
      desk.admin?.report(JSON.parse(json) as HostReport);
    },
  ],
  [
    /^gateway: (.*)$/,
    async (desk, list = '') => {
      const { gateway } = await desk.running();
      gateway.will(...list.split(', ').map(wayNamed));
    },
  ],
  [
    /^(\d+) times (.*)$/,
    async (desk, count, step = '') => {
      for (let left = Number(count); left > 0; left -= 1) await desk.perform(step);
      desk.takeSeen();
    },
  ],
  [/^meanwhile (.*)$/, (desk, step = '') => desk.meanwhile.push(step)],
  [/^\$ (.*)$/, (desk, line = '') => desk.type(line, false)],
  [/^tty\$ (.*)$/, (desk, line = '') => desk.type(line, true)],
];

/** Plays a transcript. Gives the transcript with what was seen. */
export async function playTranscript(transcript: Scenario, file: ScenarioFile): Promise<Scenario> {
  const desk = new Desk();
  try {
    const played = await playScenario(transcript, file, desk);
    if (desk.meanwhile.length > 0) throw new Error(`Nothing was asked after ${desk.meanwhile.join(', ')}`);
    return played;
  } finally {
    rmSync(desk.directory, { recursive: true });
  }
}
