/**
 * One node of a simulated fleet: its gateway, which outlives every process, its processes one after the other, and its
 * clients.
 */
import {
  createPbkdf2Hasher,
  type Admin,
  type Effect,
  type GatewayPort,
  type HostReport,
  type Snapshot,
} from 'gateway-admin-core';
import { openFleet, type Fleet } from 'gateway-admin-core/fleet';
import { createScriptedGateway, type GatewayFaults, type ScriptedGateway } from 'gateway-admin-core/testing';

import type { Trail } from '../../simulation/trail.ts';
import { answerOf, answerTo, type Answer, type Sent } from './answer.ts';
import { bringGateway } from './bringing.ts';
import { Process, type Surroundings } from './process.ts';

export const leaseMs = 3000;
/** A command is answered within this time, in milliseconds, also if everything fails that can fail. */
export const mostMs = 120_000;
/** Longest delay of a gateway. */
export const lateMs = 2500;

export interface NodeOptions extends Omit<Surroundings, 'gateway' | 'timeOfDay'> {
  readonly name: string;
  /** The difference of its time of day from that of the world, in milliseconds. */
  readonly skewMs: number;
  readonly snapshot: Snapshot;
  readonly faults: GatewayFaults;
  /** Where the node keeps its audit records; `undefined` if it keeps none. */
  readonly audit: { readonly trail: Trail; readonly required: boolean } | undefined;
  /** A client has got an answer. */
  readonly onAnswer: (sent: Sent) => void;
  /** The gateway of a node is asked for an effect. */
  readonly onEffect: (node: Node, effect: Effect, commandId: string) => void;
}

/** A running interface. */
export interface Running {
  readonly admin: Admin & { readonly fleet: Fleet };
  readonly process: Process;
}

export class Node {
  readonly name: string;
  readonly gateway: ScriptedGateway;
  readonly faults: string[] = [];
  running: Running | undefined;
  process: Process | undefined;
  /** Whether the present process closes. */
  isClosing = false;
  /** Whether the host reports what happens at the gateway: it has reported what is open. */
  isReporting = false;
  #stoppedAt: number | undefined;
  readonly #options: NodeOptions;
  readonly #waiting = new Set<{ readonly sent: Sent; readonly since: number; readonly pausedMs: number }>();

  constructor(options: NodeOptions) {
    const { name, snapshot, clock, random, faults } = options;
    this.#options = options;
    this.name = name;
    this.gateway = createScriptedGateway({
      // The gateway and the interface of a node have one time of day.
      clock: { ...clock, now: () => this.now },
      seed: random.below(2 ** 31),
      ...{ snapshot, faults, lateMs },
    });
  }

  /** Whether the process runs, and the interface is open. */
  get isAwake(): boolean {
    return this.running !== undefined && !this.running.process.isPaused;
  }

  /** The time of day at the node, in milliseconds since 1970. */
  get now(): number {
    const { clock, skewMs } = this.#options;
    return this.#stoppedAt ?? clock.now() + skewMs;
  }

  /** Where the node keeps its audit records. */
  get trail(): Trail | undefined {
    return this.#options.audit?.trail;
  }

  /** From now on, the clock of the node stands. */
  stopClock(): void {
    this.#stoppedAt = this.now;
  }

  /** Whether a client waits for an answer. */
  get waits(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether nothing of an earlier moment is left: no answer is due, no command in flight, nothing to follow. */
  get unrest(): string | undefined {
    const { running } = this;
    if (running === undefined) return 'is not open';
    const [own] = running.admin.fleet.nodes();
    const commands = running.admin.commands();
    if (commands.length > 0) return `has commands in flight: ${JSON.stringify(commands)}`;
    if (own !== undefined && own.behind.length > 0) return `is behind: ${JSON.stringify(own.behind)}`;
    if (this.#waiting.size > 0)
      return `owes answers: ${[...this.#waiting].map(({ sent }) => sent.actor).join()}`;
    return undefined;
  }

  start(): void {
    const { name, snapshot, random, audit, onEffect } = this.#options;
    const gateway: GatewayPort = {
      ...this.gateway,
      apply: (effect, context) => {
        onEffect(this, effect, context.commandId);
        return this.gateway.apply(effect, context);
      },
    };
    const process = new Process({ ...this.#options, gateway, timeOfDay: () => this.now });
    this.process = process;
    this.isClosing = false;
    this.isReporting = false;
    process.onDeath(() => {
      // Whoever was not answered cannot know.
      this.#waiting.clear();
      this.running = undefined;
      // Its calls are lost with the connection to the gateway, or take effect all the same.
      if (random.chance(0.5)) this.gateway.dropCalls();
    });
    openFleet({
      snapshot,
      gateway: process.gateway,
      store: process.store,
      clock: process.clock,
      node: name,
      leaseMs,
      limits: { effectDeadlineMs: 1000, storeDeadlineMs: 2000, auditDeadlineMs: 1500, maxQueued: 8 },
      hasher: createPbkdf2Hasher({ rounds: 1 }),
      observe: {
        onError: (error) => {
          this.#hear(error);
        },
        ...(audit === undefined
          ? {}
          : { audit: { sink: process.sinkOf(audit.trail), required: audit.required } }),
      },
    }).then(
      (admin) => {
        if (process.isDead) return;
        this.running = { admin, process };
        void this.#bringGateway({ admin, process });
      },
      (error: unknown) => {
        this.#hear(error);
        process.die();
      },
    );
  }

  /** The process dies, if there is one. */
  kill(): void {
    this.process?.die();
  }

  async close(): Promise<void> {
    const { running } = this;
    if (running === undefined) return;
    this.isClosing = true;
    await running.admin.close();
    running.process.die();
  }

  send(sent: Sent): void {
    const { running } = this;
    if (running === undefined) return;
    const { process, admin } = running;
    const { clock } = this.#options;
    const waiting = { sent, since: clock.monotonic(), pausedMs: process.pausedMs };
    this.#waiting.add(waiting);
    this.#ask(admin, sent).then(
      (answer) => {
        if (process.isDead) return;
        this.#waiting.delete(waiting);
        sent.answer = answer;
        this.#options.onAnswer(sent);
      },
      (error: unknown) => {
        if (process.isDead) return;
        this.#waiting.delete(waiting);
        this.faults.push(`${sent.command.kind} threw ${String(error)}`);
      },
    );
  }

  async #ask(
    admin: Running['admin'],
    { actor, command: { step, request, judge }, tag, waitMs, as }: Sent,
  ): Promise<Answer> {
    const etag = tag && `"${tag.text}.x"`;
    if (request === undefined) {
      const condition = tag === undefined || etag === undefined ? {} : { ifMatch: { link: tag.link, etag } };
      const waiting = waitMs === undefined ? {} : ({ settle: 'fleet', waitMs } as const);
      const execution = await admin.execute(step, { actor, ...condition, ...waiting });
      judge?.(execution);
      return answerOf(execution);
    }
    const headers = {
      ...request.headers,
      ...(etag === undefined ? {} : { 'if-match': etag }),
      ...(waitMs === undefined ? {} : { prefer: `wait=${String(Math.ceil(waitMs / 1000))}` }),
    };
    return answerTo(await admin.handle({ ...request, headers, principal: { name: as?.name ?? actor } }));
  }

  /** Looks for clients that have waited too long. */
  lookAtClock(): void {
    const process = this.running?.process;
    if (process === undefined) return;
    const now = this.#options.clock.monotonic();
    for (const { sent, since, pausedMs } of this.#waiting)
      if (now - since - (process.pausedMs - pausedMs) > mostMs)
        this.faults.push(`${sent.command.kind} of ${sent.actor} at ${this.name} has no answer`);
  }

  #hear(error: unknown): void {
    const text = String(error);
    if (!expectedErrors.some((expected) => expected.test(text)))
      this.faults.push(`${this.name} told the host: ${error instanceof Error ? String(error.stack) : text}`);
  }

  /** The host brings its gateway to what the interface shows, as after every start. */
  async #bringGateway({ admin, process }: Running): Promise<void> {
    const { gateway } = this;
    const brought = bringGateway({ admin, gateway, process, clock: process.clock });
    // After a set-back, the gateway can have what a command still creates: its sessions are reported after that.
    if (!gateway.sessionReports().every(isAbout(admin.snapshot))) await brought;
    this.#reportSessions({ admin, process });
    await brought;
    if (!process.isDead) admin.report(serverReports(gateway));
  }

  #reportSessions({ admin, process }: Running): void {
    if (process.isDead) return;
    admin.report([...this.gateway.sessionReports(), { type: 'sessions.complete' }]);
    this.isReporting = true;
  }
}

/** Whether the snapshot has the service or the server that a report names. */
function isAbout({ services, servers }: Snapshot): (report: HostReport) => boolean {
  return (report) =>
    (!('service' in report) || services.find(report.service) !== undefined) &&
    (!('server' in report) || servers.find(report.server) !== undefined);
}

/** Services and monitors never fail in this world, so only servers have something to report. */
function serverReports(gateway: ScriptedGateway): readonly HostReport[] {
  return gateway.statusReports().filter(({ type }) => type === 'server.reported');
}

/** What may go to `onError`. */
const expectedErrors = [
  /HostError/,
  /The disk failed/,
  /The disk is out of reach/,
  /did not answer/,
  /The configuration of the fleet has gone back/,
  /An earlier command may have changed .* at the gateway/,
  /Another process runs the node/,
  /cannot announce itself/,
  /The gateway of this node has not followed a change of \/\S+ that another node has made/,
  /DifferingDocumentError/,
  /audit records are lost/,
];
