/**
 * What clients read in a fleet, at any node and at any time: one tag stands for one content and one content has one tag,
 * everywhere; no node goes back; and what was changed at once is seen at once.
 */
import { nameKey, type Admin, type Snapshot } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { Answer, FleetCommand } from './answer.ts';
import type { Chronicle } from './chronicle.ts';
import type { Node, Running } from './node.ts';
import type { Process } from './process.ts';
import { ContentLaw, OnwardLaw, partsSeen, TagLaw, type Reading, type Revision } from './reading-law.ts';
import { contentAt, placeOf, shownIn, type Shown } from './shown.ts';

/** What clients read with requests. */
const targets = [
  ...['/services', '/servers', '/monitors', '/filters', '/users', '/'],
  ...[
    '/services/Sales',
    '/services/Reports',
    '/services/Sales/listeners',
    '/monitors/Watch',
    '/monitors/Probe',
  ],
  ...['/servers/db-1', '/servers/db-2', '/filters/Hint'],
] as const;

/** What clients read besides where something comes and goes. */
const foundedTargets = [
  ...['/services/New', '/services/Other', '/services/New/listeners', '/monitors/Third', '/filters/Extra'],
  ...['/servers/db-3', '/servers/db-4'],
] as const;

/** One life of a node, as clients read there. */
interface Life {
  readonly onward: OnwardLaw;
  /** What the node knows of the fleet. */
  readonly ofFleet: OnwardLaw;
  /** How many logs a set-back had ended at its start: after another set-back, the node goes back as well. */
  readonly setBacks: number;
  /** The number of revisions before this life: the gateway follows those resource by resource. */
  readonly since: number;
  fleet?: Snapshot;
}

/** How often a look is a request too, from 0 to 1. */
const often = 0.1;

export class Readings {
  readonly faults: string[] = [];
  readonly #chronicle: Chronicle;
  readonly #random: Random;
  /** What each node has shown last. */
  readonly #last = new Map<string, Snapshot>();
  readonly #contents = new ContentLaw();
  readonly #tags = new TagLaw();
  readonly #lives = new Map<Running, Life>();
  /** How many logs a set-back had ended when a process started: an opening reads the log before clients can read. */
  readonly #setBacks = new WeakMap<Process, number>();

  /** Draws what is read of what comes and goes; left out if nothing does. */
  readonly #founding: Random | undefined;
  /** Whether a node follows some changes in parts: a creation, and a drain, which stops the service first. */
  readonly #hasParts: boolean;

  constructor(
    chronicle: Chronicle,
    random: Random,
    { founding, draining }: { readonly founding: Random | undefined; readonly draining: Random | undefined },
  ) {
    this.#chronicle = chronicle;
    this.#random = random;
    this.#founding = founding;
    this.#hasParts = founding !== undefined || draining !== undefined;
  }

  /** A process starts. */
  begin(process: Process): void {
    this.#setBacks.set(process, this.#chronicle.lost.length);
  }

  /** Clients read at a node: everything in the process, and at times one thing with a request. */
  look(node: Node): void {
    const { running } = node;
    if (running === undefined) return;
    this.#lookAtSnapshot(node, running.admin.snapshot);
    this.#lookAtFleet(node.name, running);
    if (node.isAwake && this.#random.chance(often)) void this.#request(node, this.#random.pick(targets));
    if (node.isAwake && this.#founding?.chance(often) === true)
      void this.#request(node, this.#founding.pick(foundedTargets));
  }

  /** A client reads what an answer shows, and then reads at the node. */
  lookAtAnswer(node: Node, { request }: FleetCommand, { snapshot, reply }: Answer): void {
    if (snapshot !== undefined) this.#lookAtSnapshot(node, snapshot);
    // Where an equal resource is there already, the answer names no place.
    const isOfAnother = request?.method === 'POST' && reply?.place === undefined;
    if (request !== undefined && reply?.etag !== undefined && !isOfAnother) {
      const { place, etag, body } = reply;
      const target = place && new URL(place, `http://gateway${request.target}`).pathname;
      // An answer can wait for other nodes: it shows what was then.
      this.#lookAtReply(node, { target: target ?? request.target, etag, body: asRead(body) });
    }
    this.look(node);
  }

  #lookAtSnapshot(node: Node, snapshot: Snapshot): void {
    const before = this.#last.get(node.name);
    if (snapshot === before) return;
    this.#last.set(node.name, snapshot);
    const all = shownIn(snapshot, before);
    for (const shown of all)
      for (const fault of this.#contents.faultsOf(shown)) this.#tell(`${node.name} ${fault}`);
    const { running } = node;
    if (running !== undefined && snapshot === running.admin.snapshot)
      this.#lookOnward(node, running, snapshot, all);
  }

  /** What clients see of a node goes on, and shows the changes of the node as a whole. */
  #lookOnward(node: Node, running: Running, snapshot: Snapshot, all: readonly Shown[]): void {
    const { name } = node;
    const life = this.#lifeOf(running);
    const faults = life.onward.faultsOfRevision(snapshot.revision);
    const sights = all.flatMap((shown) => this.#faultsOfSight(node, life, shown));
    this.#tellOf(name, life, [...faults, ...sights]);
    const isOwn = (revision: Revision): boolean =>
      revision.node === name &&
      !revision.changes.some(({ link }) => this.#chronicle.hasFenced(name, link) || this.#isOwn(node, link));
    this.#tellOf(name, life, this.#partsIn(life, snapshot, isOwn));
  }

  /** A list at a node that is behind with one resource is as it never was in the log. */
  #faultsOfSight(node: Node, { onward }: Life, { link, content }: Shown): readonly string[] {
    const isList = link.startsWith('/users') || link.lastIndexOf('/') === 0;
    if (isList || !this.#chronicle.hadSince(link, content) || this.#isOwn(node, link)) return [];
    if (this.#chronicle.hasFencedIn(node.name, link)) return [];
    return onward.faultsOfSight(link, (from) => this.#chronicle.momentWith(link, content, from));
  }

  /** What a node knows of the fleet is what the log had at one moment, and goes on. */
  #lookAtFleet(name: string, running: Running): void {
    const life = this.#lifeOf(running);
    const { snapshot } = running.admin.fleet;
    if (snapshot === life.fleet) return;
    const before = life.fleet;
    life.fleet = snapshot;
    const isBack = before !== undefined && snapshot.revision < before.revision;
    const back = isBack ? [`has revision ${String(snapshot.revision)} after ${String(before.revision)}`] : [];
    const faults = life.ofFleet.faultsOfSight('everything', (from) =>
      this.#chronicle.momentOfAll(snapshot, from),
    );
    this.#tellOf(`the fleet at ${name}`, life, [...back, ...faults]);
  }

  /** Only of changes that are the last ones of their resources: a node follows later ones one resource at a time. */
  #partsIn(life: Life, snapshot: Snapshot, isMeant: (revision: Revision) => boolean): readonly string[] {
    const { moments } = this.#chronicle;
    const revisions = this.#chronicle.revisions.slice(life.since).filter(isMeant);
    return revisions
      .filter(({ changes, moment }) =>
        moments.slice(moment).every((now) => changes.every(({ link, to }) => contentAt(now, link) === to)),
      )
      .flatMap((revision) => partsSeen(revision, (link) => contentAt(snapshot, link)));
  }

  #lifeOf(running: Running): Life {
    const setBacks = this.#setBacks.get(running.process) ?? 0;
    const fresh = {
      onward: new OnwardLaw(),
      ofFleet: new OnwardLaw(),
      setBacks,
      since: this.#chronicle.revisions.length,
    };
    const life = this.#lives.get(running) ?? fresh;
    this.#lives.set(running, life);
    return life;
  }

  #tellOf(reader: string, { setBacks }: Life, faults: readonly string[]): void {
    if (setBacks === this.#chronicle.lost.length)
      for (const fault of faults) this.#tell(`${reader} ${fault}`);
  }

  async #request({ name, running }: Node, target: string): Promise<void> {
    const handled = await running?.admin.handle({ method: 'GET', target, headers: {} });
    if (running === undefined || handled?.matched !== true) return;
    const { headers, body } = handled.response;
    const etag = headers['etag'];
    if (typeof body !== 'string' || etag === undefined) return;
    const life = this.#lifeOf(running);
    const faults = this.#lookAtReply({ name, running }, { target, etag, body });
    if (!this.#chronicle.hasFencedIn(name, placeOf(target))) this.#tellOf(name, life, faults);
  }

  /** Gives in what the reply is older than what was read before. */
  #lookAtReply({ name, running }: Pick<Node, 'name' | 'running'>, reading: Reading): readonly string[] {
    for (const fault of this.#tags.faultsOf(reading)) this.#tell(`${name} ${fault}`);
    return running === undefined ? [] : this.#lifeOf(running).onward.faultsOf(reading);
  }

  /**
   * Whether what a node shows may be its own, even if it looks like something that the log has had: a change that is
   * being taken back, a part of a change that the gateway has refused to follow as a whole, or the last changes of a
   * node that closes and does not learn whether their records were kept. What comes is created before it is started or
   * listed. A resource that the node has yet to follow may have left out a server, and listed it again, when the node
   * put another server in its place.
   */
  #isOwn({ name, isClosing, running }: Node, link: string): boolean {
    const [own] = running?.admin.fleet.nodes() ?? [];
    const isPartly = own?.behind.some(
      ({ resource, code }) => isSame(resource, link) && (code !== undefined || this.#hasParts),
    );
    const isBetween = running !== undefined && isInParts(running.admin, link);
    return isClosing || isPartly === true || isBetween || this.#chronicle.hasFenced(name, link);
  }

  #tell(fault: string): void {
    this.faults.push(fault);
  }
}

/**
 * The answer to the patch of a server has the status under both of its names; reading has one (docs/spec-choices.md).
 */
function asRead(body: string): string {
  const answer = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const { state: _state, ...shown } = answer;
  return 'status' in answer ? JSON.stringify(shown) : body;
}

export function isSame(one: string, other: string): boolean {
  return nameKey(one) === nameKey(other);
}

/**
 * Whether a command in flight that creates or deletes holds a resource: it has parts, and a node shows what is between.
 */
export function isInParts(admin: Pick<Admin, 'commands'>, link: string): boolean {
  return admin
    .commands()
    .some(({ resources }) => resources.some((one) => isSame(one, link)) && resources.some(isOfMembership));
}

/** A command that creates or deletes holds a list, or a listener. */
function isOfMembership(link: string): boolean {
  return link.lastIndexOf('/') === 0 || link.includes('/listeners/');
}
