/**
 * Worlds of a fleet: what happens to one node happens at some node, and the nodes lose the store and each other.
 */
import type { Random } from 'gateway-admin-core/testing';

import { fleetFaultsAtRest } from './fleet-law.ts';
import { beginning, drawSteps, simplerUnits, type Known } from './random.ts';
import { simulateScenario } from './scenario-world.ts';

export function simulate(seed: number): Promise<readonly string[]> {
  return simulateScenario({ begin, draw, simpler, faults: fleetFaultsAtRest }, seed);
}

const nodes = ['a', 'b', 'c'] as const;

function begin(random: Random): readonly (readonly string[])[] {
  const present = random.chance(0.7) ? nodes.slice(0, 2) : nodes;
  const starts = present.map((node) => beginning.flatMap((text) => at(node, text)));
  return [...(random.chance(0.5) ? [['store gives no hints']] : []), ...starts, ['store is backed up']];
}

function draw(random: Random, known: Known, number: number): readonly string[] {
  const node = random.pick(nodes.slice(0, 2));
  if (random.chance(0.04)) return ended(random, known, node, number);
  if (random.chance(0.08)) return random.pick(troubles)(node);
  // A client can read at one node and ask at another.
  return drawSteps(random, known, number).flatMap((text) =>
    at(random.chance(0.2) && /^c\d/.test(text) ? random.pick(nodes) : node, text),
  );
}

/** The others end the command of a node that they do not hear, and its gateway still does it, or has done it. */
function ended(random: Random, { clients, theme }: Known, node: string, number: number): readonly string[] {
  const way = random.pick(['do it after 12s', 'do it and answer after 12s', 'do it after 3s']);
  const asked = random.pick(theme.commands)(random, number);
  const request = `c${String(clients + 1)}@${node}: ${asked}`;
  return [`${node} gateway: ${way}`, request, `${node} is mute`, 'wait 6s', `${node} is heard`, 'wait 8s'];
}

const troubles: readonly ((node: string) => readonly string[])[] = [
  (node) => [`${node} is cut off`, 'wait 5s', `${node} is back`],
  (node) => [`${node} is cut off`],
  (node) => [`${node} is back`],
  (node) => [`${node} is mute`, 'wait 6s', `${node} is heard`],
  () => ['store is backed up'],
  () => ['store is set back'],
];

/**
 * A step of one node as that of a node of a fleet. A fleet is never idle, goes on while a process is not there, and does
 * not share what has failed.
 */
function at(node: string, text: string): readonly string[] {
  if (text === 'wait until idle') return [allLate];
  if (text.startsWith('gateway says')) return ['wait 3s'];
  return text === 'start'
    ? [placedAt(node, text), placedAt(node, 'host brings its gateway')]
    : [placedAt(node, text)];
}

/** A step of one node, at a node of a fleet. */
export function placedAt(node: string, text: string): string {
  return text
    .replace(/^[\w-]+(?=: [A-Z]+ \/)/, `$&@${node}`)
    .replace(/^(?=gateway|store|host|clock|is )/, `${node} `)
    .replace(/^(?:start|close|kill|pause|go on)/, `$& ${node}`);
}

/** After this, a gateway has done all that a dead process has asked for: the next process begins then. */
const allLate = 'wait 13s';

/** In a fleet, nothing else than the parts of a death belongs together. */
function simpler(texts: readonly string[]): readonly (readonly string[])[] {
  const needed = texts.includes(allLate) ? /^(?:start|close|kill|wait 13s|. host)/ : /^$/;
  const parts = texts.flatMap((text, place) =>
    texts.length === 1 || needed.test(text) ? [] : [texts.toSpliced(place, 1)],
  );
  const dies = texts.indexOf(allLate);
  // A node that begins, and has not died.
  const begun = texts.slice(dies + 1);
  return [...parts, ...(dies === -1 ? simplerUnits(texts) : begun.length > 0 ? [begun] : [])];
}
