/**
 * The laws of every scenario of a fleet: nothing fails any more, every node is waited for, and then all must agree with
 * the log, and with each other.
 */
import type { Fleet } from 'gateway-admin-core/fleet';
import type { Admin } from 'gateway-admin-core';

import type { Sent } from '../fleet/simulation/answer.ts';
import { judge } from '../fleet/simulation/judge.ts';
import { unlikeness } from '../fleet/simulation/likeness.ts';
import { decide } from '../model/command.ts';
import { Configuration } from '../model/configuration.ts';
import { wholeDocument } from '../support/configuration.ts';
import { answerlessFaults, callFaults } from './passed-law.ts';
import type { Passed, Place, Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** What heals a node. */
const healing = ['gateway is well', 'store is well', 'is back', 'is heard'];

export async function fleetFaultsAtRest(stage: Stage): Promise<readonly string[]> {
  await perform(stage, 'store is well');
  for (const { node = '', gateway } of stage.places) {
    await perform(stage, `go on ${node}`);
    for (const healed of healing) await perform(stage, `${node} ${healed}`);
    // A node does not delete what is in use.
    for (const id of Object.keys(gateway.state.sessions))
      await perform(stage, `${node} gateway ends session ${id}`);
  }
  for (const place of stage.places)
    if (place.process?.admin === undefined) {
      // What a gateway does for a dead process ends before the next one begins.
      await perform(stage, `${place.node ?? ''} gateway loses its calls`);
      await begin(stage, place);
    }
  for (const place of stage.places) await bring(stage, place);
  await settle(stage);
  // What a gateway does not answer stays open until another start.
  const left = stage.places.filter(
    (place) => !isAtRest(place) || unsettled(stage).includes(place.node ?? ''),
  );
  for (const place of left) await beginAgain(stage, place);
  if (left.length > 0) await settle(stage);
  const atRest = await disagreement(stage);
  if (atRest.length === 0) {
    for (const place of stage.places) await beginAgain(stage, place);
    await settle(stage);
  }
  const again = atRest.length === 0 ? await disagreement(stage) : atRest;
  return [...again, ...untruths(stage), ...answerlessFaults(stage.passed), ...callFaults(stage.passed)];
}

/** Waits until every node is at rest and has read the whole log, as long as a try to follow can take. */
async function settle(stage: Stage): Promise<void> {
  for (let passed = 0; passed < 75; passed += 5) {
    await perform(stage, 'wait 5s');
    const position = await stage.store.position();
    if (stage.places.every((place) => isAtRest(place) && adminOf(place)?.fleet.position === position)) return;
  }
}

async function beginAgain(stage: Stage, place: Place): Promise<void> {
  await perform(stage, `close ${place.node ?? ''}`);
  await begin(stage, place);
}

async function begin(stage: Stage, place: Place): Promise<void> {
  const { node = '' } = place;
  await perform(stage, `start ${node}`);
  await bring(stage, place);
  await perform(stage, `${node} host reports everything`);
}

/** A gateway was not there while others have changed something. */
async function bring(stage: Stage, { node = '', process }: Place): Promise<void> {
  if (process?.isBrought !== true) await perform(stage, `${node} host brings its gateway`);
}

function adminOf({ process }: Place): (Admin & { readonly fleet: Fleet }) | undefined {
  return process?.admin as (Admin & { readonly fleet: Fleet }) | undefined;
}

/** The nodes of the commands that have not ended, or that others have ended. */
function unsettled({ chronicle: { ledger } }: Stage): readonly string[] {
  return [...(ledger?.open.values() ?? []), ...(ledger?.abandoned.values() ?? [])].map(({ node }) => node);
}

function isAtRest(place: Place): boolean {
  const admin = adminOf(place);
  return admin?.commands().length === 0 && admin.fleet.nodes()[0]?.behind.length === 0;
}

/** In what the nodes, their gateways and the log differ. */
async function disagreement(stage: Stage): Promise<readonly string[]> {
  const { ledger, lost } = stage.chronicle;
  const nodes = stage.places.flatMap((place) => {
    const admin = adminOf(place);
    return admin === undefined
      ? []
      : [{ name: place.node ?? '', gateway: place.gateway, running: { admin } }];
  });
  if (nodes.length < stage.places.length) return ['a node does not start'];
  if (ledger === undefined) return [];
  const position = await stage.store.position();
  return [
    ...stage.places
      .filter((place) => !isAtRest(place))
      .map(({ node = '' }) => `${node} does not come to rest`),
    ...judge({ ledger, lost, sent: sentIn(stage.passed), nodes, position }),
    ...(await stage.clock.waitFor(unlikeness(nodes.map(({ running }) => running)))),
  ];
}

/** A request, and its answer. */
interface Asked {
  readonly request: Extract<Passed, { readonly what: 'request' }>;
  readonly answer: Extract<Passed, { readonly what: 'answer' }>;
}

function askedIn(passed: readonly Passed[]): readonly Asked[] {
  const open = new Map<string, Asked['request']>();
  return passed.flatMap((each) => {
    if (each.what === 'request') open.set(each.client, each);
    const request = each.what === 'answer' ? open.get(each.client) : undefined;
    return each.what !== 'answer' || request === undefined ? [] : [{ request, answer: each }];
  });
}

/** What clients have asked, as the judge of a fleet takes it. */
function sentIn(passed: readonly Passed[]): readonly Sent[] {
  return askedIn(passed).map(({ request, answer }) => {
    const [actor = '', node = ''] = request.client.split('@');
    const kind = `${request.command.method} ${request.command.path}`;
    const isRefused = answer.status >= 400 && answer.status !== 504;
    const outcome = isRefused ? 'refused' : answer.status === 504 ? 'unknown' : 'done';
    return {
      ...{ actor, node, askedAt: request.moment },
      command: {
        kind,
        changes: [],
        step: (snapshot) => ({ outcome: 'unchanged', next: snapshot, resources: [] }),
      },
      answer: {
        ...{ outcome, events: [], applied: [] },
        ...(answer.code === undefined ? {} : { code: answer.code, isPart: answer.code === 'partly-done' }),
      },
    };
  });
}

/** The refusals that rest on more than the state that the nodes share. */
const otherReasons: readonly (string | undefined)[] = [
  ...['command-in-progress', 'node-behind', 'effect-refused', 'partly-done', 'overloaded', 'fenced'],
  ...['store-unavailable', 'closed', 'read-only', 'outcome-unknown', 'precondition-failed', 'plan-changed'],
  ...['resource-in-use', 'query-invalid', 'op-not-allowed', 'undo-refused'],
];

/** Sessions and connections are each node's own, and not in the log. */
const ownOfNode = /\/(?:sessions|connections)\b/;

/**
 * That nothing changes, and a refusal that rests on the state alone, was true of the log at a moment between the question
 * and the answer.
 */
function untruths({ chronicle, passed }: Stage): readonly string[] {
  return askedIn(passed).flatMap(({ request, answer }) => {
    const { client, command, at: now } = request;
    const [actor = ''] = client.split('@');
    if (command.method === 'GET' || command.path.includes('?') || otherReasons.includes(answer.code))
      return [];
    if (ownOfNode.test(JSON.stringify(command))) return [];
    const isUnchanged = answer.status < 300 && chronicle.momentOf(actor) === undefined;
    if (answer.status < 300 && !isUnchanged) return [];
    const found = new Set<string>();
    for (const moment of chronicle.moments.slice(request.moment, answer.moment + 1)) {
      const before = Configuration.of(wholeDocument(moment));
      const decided = decide(before, command, { actor, now });
      if (decided === undefined) return [];
      found.add(decided.code ?? (before.differences(decided.next).length === 0 ? 'unchanged' : 'accepted'));
    }
    const wanted = answer.code ?? 'unchanged';
    const all = [...found].join(' or ');
    return found.has(wanted) || found.size === 0
      ? []
      : [
          `${client} was answered with ${wanted}, which was never true: ${all} (${command.method} ${command.path})`,
        ];
  });
}
