import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type GatewayDocument } from 'gateway-admin-core';
import { diff } from 'gateway-admin-core/json';
import { createScriptedGateway } from 'gateway-admin-core/testing';

import { givenDocuments } from '../support/arbitrary-document.ts';
import { sampleDocument } from '../support/document.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { command, servers, type Result } from './command-line.ts';

const serve = servers(afterEach);

interface Served extends Running {
  readonly url: string;
  readonly ask: (args: readonly string[], document?: unknown) => Promise<Result>;
}

/** Runs the interface on a document. A document that is given to a command is its standard input. */
async function serving(
  document: GatewayDocument,
  options: Parameters<typeof runAdmin>[0] = {},
): Promise<Served> {
  const running = runAdmin({ snapshot: createSnapshot(document), name: 'eu-1', ...options });
  const url = await serve(running.admin);
  return {
    ...running,
    url,
    ask: (args, given) => command([...args, '--url', url], { input: JSON.stringify(given) }),
  };
}

async function exported({ ask }: Served): Promise<Exported> {
  const { code, out, err } = await ask(['export']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Exported;
}

type Entry = Record<string, unknown> & { readonly name: string };
type Exported = Record<'servers' | 'filters' | 'monitors' | 'services', Entry[]>;

const apply = ['apply', '-', '--yes'];
const nothing = { code: 0, out: 'Nothing to do: eu-1 is as - says.\n', err: '' };
/** Documents that can be a body: no name is a path segment that URLs resolve. */
const reachable = givenDocuments.filter((document) => !/"\.{1,2}"/.test(JSON.stringify(document)));

/** Other values for the settings of a document. */
const wishes = fc.record({
  state: fc.constantFrom('started', 'stopped'),
  limit: fc.option(fc.nat(1000), { nil: undefined }),
  interval: fc.integer({ min: 1, max: 60_000 }),
  status: fc.constantFrom([], ['maintenance']),
  port: fc.integer({ min: 1, max: 65_535 }),
});

/** The line of a part, with the values before and after; none if these are equal. */
function lineOf(path: string, old: unknown, now: unknown): readonly string[] {
  if (old === now) return [];
  const sign = old === undefined ? '+' : now === undefined ? '-' : '~';
  const [is, was] = [now, old].map((value) => JSON.stringify(value));
  return [`${sign} ${path}${is === undefined ? '' : ` = ${is}`}${was === undefined ? '' : ` (was ${was})`}`];
}

/** The line of a link in a list, with its places before and after. */
function lineOfLink(link: string, before: readonly string[], after: readonly string[]): string {
  const [was, is] = [before, after].map((list) => {
    const at = list.indexOf(link);
    return at === 0 ? 'first' : at > 0 && `after ${list[at - 1] ?? ''}`;
  });
  if (is === false) return `- ${link} (was ${String(was)})`;
  return was === false ? `+ ${link} ${String(is)}` : `~ ${link} ${String(is)} (was ${String(was)})`;
}

describe('gateway-admin apply', () => {
  // Promise: apply-idempotent
  it('finds nothing to do for what export prints, makes the gateway as a document says, and finds nothing again', async () => {
    await fc.assert(
      fc.asyncProperty(reachable, wishes, async (document, { state, limit, interval, status, port }) => {
        const served = await serving(document);
        const wanted = await exported(served);
        const out = `${nothing.out}Nothing was done on eu-1.\n`;
        expect(await served.ask(['plan', '-'], wanted)).toEqual({ ...nothing, out });
        expect(await served.ask(apply, wanted)).toEqual(nothing);
        for (const service of wanted.services) {
          Object.assign(service, { state, filters: [] });
          if (limit === undefined) delete service['max_connection'];
          else service['max_connection'] = limit;
        }
        for (const monitor of wanted.monitors) Object.assign(monitor, { state, monitor_interval: interval });
        for (const server of wanted.servers)
          Object.assign(server, { status, port, parameters: { zone: 'eu' } });
        const planned = await served.ask(['plan', '-'], wanted);
        expect(planned.code).toBe(0);
        expect(appliedTo(served.gateway)).toEqual([]);
        const notes = Array.from(planned.out.matchAll(/^note: (.*\n)/gm), ([, note]) => note);
        expect(await served.ask(apply, wanted)).toMatchObject({ code: 0, err: notes.join('') });
        expect(await exported(served)).toEqual(wanted);
        expect(await served.ask(apply, wanted)).toEqual(nothing);
      }),
      { numRuns: 25 },
    );
  });

  it('shows the values before and after in the plan and in the history, whatever changes', async () => {
    const settings = fc.record({
      servers: fc.uniqueArray(fc.constantFrom('/servers/s1', '/servers/s2', '/servers/s3', '/servers/s4')),
      router_options: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('0', '1')),
      max_connection: fc.nat(2),
    });
    const servers = [1, 2, 3, 4].map((at) => ({
      ...{ name: `s${String(at)}`, address: '10.0.0.1', port: 1, protocol: 'pg' },
    }));
    const service = { name: 'S', router: 'r' };
    await fc.assert(
      fc.asyncProperty(settings, settings, async (before, after) => {
        const { ask } = await serving({ servers, services: [{ ...service, ...before }] });
        const patch = ['patch', 'service', 'S', '--file', '-'];
        const shown = [await ask([...patch, '--dry-run'], diff(before, after))];
        expect(await ask(patch, diff(before, after))).toMatchObject({ code: 0 });
        shown.push(await ask(['history']));
        const [old, now] = [before.servers, after.servers];
        const kept = [old, now].map((list) =>
          list.filter((link) => [old, now].every((each) => each.includes(link))),
        );
        const isMoved = (line: string): boolean => line.startsWith('~ /servers/');
        const ofLinks = [...new Set([...old, ...now])].map((link) => lineOfLink(link, old, now));
        const told = [
          ...['a', 'b'].flatMap((name) =>
            lineOf(`/router_options/${name}`, before.router_options[name], after.router_options[name]),
          ),
          ...lineOf('/max_connection', before.max_connection, after.max_connection),
          ...ofLinks.filter((line) => !isMoved(line)),
        ];
        for (const { out } of shown) {
          const lines = Array.from(out.matchAll(/^ +([-+~] .*)$/gm), ([, line = '']) => line);
          expect(lines.filter((line) => !isMoved(line)).toSorted()).toEqual(told.toSorted());
          // Of what has moved, some links say it for all.
          const moved = lines.filter(isMoved);
          expect(ofLinks).toEqual(expect.arrayContaining(moved));
          expect(moved.length > 0).toBe(kept[0]?.join() !== kept[1]?.join());
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['its outcome is unknown', 'outcome-unknown', 4],
    ['the user may not do this any more', 'forbidden', 5],
  ])('ends with the exit code of the answer: %s', async (_why, told, exitCode) => {
    const gateway = createScriptedGateway({ snapshot: createSnapshot(sampleDocument) });
    let isPlanning = true;
    const { ask, clock, admin } = await serving(sampleDocument, {
      gateway,
      access: {
        authorize(_principal, route, _parameters, how) {
          isPlanning &&= route.kind !== 'command' || how?.dryRun === true;
          return isPlanning || told !== 'forbidden';
        },
      },
    });
    gateway
      .will('done', () => {
        void clock.advance(admin.limits.effectDeadlineMs);
        return new Promise(() => undefined);
      })
      .otherwise({ inspect: 'not-in-place' });
    const { code, out, err } = await ask(apply, threeChanges);
    expect([code, out]).toEqual([exitCode, expect.not.stringContaining('Done')]);
    expect(err).toContain(`(${told})`);
  });

  it('makes more changes than a plan shows, in one command, and says how many there are', async () => {
    const monitors = Array.from({ length: 101 }, (_none, at) => ({ name: `M${String(at)}`, module: 'm' }));
    const served = await serving({
      monitors: monitors.map((each) => ({ ...each, state: 'stopped' as const })),
    });
    const { code, out, err } = await served.ask(apply, { monitors });
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').slice(100)).toEqual([
      '/monitors/M99  start',
      'and 1 more',
      'closes 0 sessions and 0 backend connections',
      'Done: apply - (101 changes) on eu-1.',
      '',
    ]);
    expect(appliedTo(served.gateway)).toHaveLength(101);
    const { out: pruned } = await served.ask(['plan', '-', '--prune'], {
      monitors: [],
      services: [{ name: 'S', router: 'r' }],
    });
    expect(pruned).toContain('deletes 101 monitors');
  });
});

const threeChanges = {
  monitors: [{ name: 'Idle Monitor', module: 'pgmon', monitor_interval: 77 }],
  services: [{ name: 'Bare Service', router: 'cli', state: 'stopped', max_connection: 7 }],
};
