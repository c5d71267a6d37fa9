/** tests/scenarios/command/crossing.txt says what becomes of reports while a command is in flight. */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, patchServer, type Transition } from 'gateway-admin-core';

import { Crossings } from '../../../src/runtime/command/crossing.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { openRunning } from '../../support/running-admin.ts';

describe('a report that crosses a command', () => {
  it('of a role, while the store keeps the intent to set a server down: the server has no role', async () => {
    const snapshot = createSnapshot({
      servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
    });
    const setDown: Transition = (state, context) =>
      patchServer(state, 'db', [{ op: 'replace', path: '/state', value: [] }], context);
    const store = new FailingStore();
    const running = await openRunning(store, { snapshot });
    const append = store.append.bind(store);
    store.append = (...args) => {
      store.append = append;
      running.admin.report({ type: 'server.reported', server: 'db', status: ['running', 'master'] });
      return append(...args);
    };
    expect((await running.admin.execute(setDown)).outcome).toBe('accepted');
    expect(running.admin.snapshot.servers.find('db')?.settings.state).toEqual([]);
    await running.admin.close();
  });
});

describe('the reports that cross several commands', () => {
  /** What a walk over the aspects of all commands gives. */
  class Model {
    readonly #all = new Map<string, { command: string; earlier: unknown; later: unknown }>();

    begin(command: string, name: string): void {
      const before = this.#all.get(name);
      this.#all.set(name, { command, earlier: before?.later ?? before?.earlier, later: undefined });
    }

    done(name: string): void {
      const known = this.#all.get(name);
      if (known !== undefined) known.earlier = undefined;
    }

    hold(name: string, report: unknown): boolean {
      const known = this.#all.get(name);
      if (known !== undefined) known.later = report;
      return known !== undefined;
    }

    take(command: string): readonly unknown[] {
      const own = [...this.#all].filter(([, each]) => each.command === command);
      for (const [name] of own) this.#all.delete(name);
      return own.flatMap(([, { earlier, later }]) => [earlier, later]).filter(Boolean);
    }
  }

  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('begin', 'begin', 'done', 'hold', 'hold', 'take'),
      command: fc.constantFrom('1', '2', '3'),
      name: fc.constantFrom('Sales', 'Stock', 'Reports', 'Spare'),
    }),
    { maxLength: 40 },
  );

  it('are given to the command of the aspect, once, in the order of the calls', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const [crossings, model] = [new Crossings(), new Model()];
        for (const [at, { what, command, name }] of list.entries()) {
          const link = `/services/${name}`;
          const effect = { type: 'service.stop', resource: link, service: name.toLowerCase() } as const;
          if (what === 'begin') {
            crossings.begin(command, effect);
            model.begin(command, name);
          } else if (what === 'done') {
            crossings.done(effect);
            model.done(name);
          } else if (what === 'hold')
            expect(crossings.hold({ link, aspect: 'state', report: at + 1 })).toBe(model.hold(name, at + 1));
          else expect(crossings.take(command)).toEqual(model.take(command));
        }
      }),
    );
  });
});
