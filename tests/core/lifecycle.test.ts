import { describe, expect, it } from '@jest/globals';
import { canTransition, lifecycle as shared, nextState } from 'gateway-admin-core';

import { defineLifecycle, type Lifecycle } from '../../src/core/lifecycle.ts';
import { thawedPlaces } from '../support/frozen.ts';

type Startable = Lifecycle<
  'started' | 'stopped' | 'failed',
  'start' | 'stop' | 'report-failed' | 'report-started'
>;

const machines: readonly (readonly [string, Startable])[] = [['services and monitors', shared]];
const states = ['started', 'stopped', 'failed'] as const;
const commands = ['start', 'stop', 'report-failed', 'report-started'] as const;

describe.each(machines)('the lifecycle of %s', (_name, lifecycle) => {
  it('has a row for each state, and each command and report, and leads nowhere else', () => {
    expect(Object.keys(lifecycle).toSorted()).toEqual(states.toSorted());
    for (const row of Object.values(lifecycle)) {
      expect(Object.keys(row).toSorted()).toEqual(commands.toSorted());
      for (const next of Object.values(row)) expect(states).toContain(next);
    }
  });

  it('is frozen', () => {
    expect(thawedPlaces(lifecycle)).toEqual([]);
  });

  it('gives the same when a command is given twice', () => {
    for (const state of states) {
      for (const command of commands) {
        const once = nextState(lifecycle, state, command);
        expect(nextState(lifecycle, once, command)).toBe(once);
        expect(canTransition(lifecycle, once, command)).toBe(false);
        expect(canTransition(lifecycle, state, command)).toBe(once !== state);
      }
    }
  });

  it('lets commands say what is wanted, and reports what is seen of what is wanted', () => {
    for (const state of states) {
      expect(nextState(lifecycle, state, 'start')).toBe('started');
      expect(nextState(lifecycle, state, 'stop')).toBe('stopped');
      for (const seen of ['started', 'failed'] as const)
        expect(nextState(lifecycle, state, `report-${seen}`)).toBe(state === 'stopped' ? 'stopped' : seen);
    }
  });
});

describe('defineLifecycle', () => {
  const light = defineLifecycle({
    red: { next: 'green', flash: 'amber' },
    green: { next: 'amber', flash: 'amber' },
    amber: { next: 'red', flash: 'amber' },
  });

  it('gives a frozen machine of any states and commands', () => {
    expect(thawedPlaces(light)).toEqual([]);
    const three = nextState(light, nextState(light, nextState(light, 'red', 'next'), 'next'), 'next');
    expect(three).toBe('red');
    expect(canTransition(light, 'amber', 'flash')).toBe(false);
    expect(canTransition(light, 'amber', 'next')).toBe(true);
  });
});
