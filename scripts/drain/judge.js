/**
 * The judge of the drain test. Clients, the operator and PostgreSQL tell the judge what they see, and the judge says
 * which law that breaks. Times are those of `Date.now()`. No law depends on speed: a session was open when the client
 * sent the last statement that was answered, and is closed when the client gets the error. What lies between can have
 * been at any time.
 *
 * Law 1: a drain ends no session before its deadline, and none at all without a deadline or with `then: resume`.
 * Law 2: at a deadline, a node closes only sessions of the drain. The plan counts all of them, except those that came
 * later. Law 3: when a node says "drained", nothing of the drain is open there, and nothing opens there before the
 * drain ends. Law 4: a minute after a deadline nothing is left to do, unless an alert says why.
 * Law 5: nothing is refused that does not drain, and after the last resume every client works again.
 */

/** A drain from the first request for it to its end at every node. */
class Drain {
  begun = Date.now();
  /** When the drain may begin to close sessions. */
  closeFrom = Infinity;
  /** When the end of the drain may have begun: at the first request for it, or at the deadline with `then: resume`. */
  endFrom = Infinity;
  /** When the drain had ended at every node. */
  over = Infinity;
  /** Plans by node: the sessions that the plan counts, and those that the judge knows of. */
  plans = new Map();
  /** When nodes have first said that they have drained, by name. */
  claims = new Map();
  /** How far the log of the fleet had come when a node had the drain. */
  position;

  constructor(about) {
    Object.assign(this, about);
    const { timeout, then } = this.options;
    if (then === 'close') this.closeFrom = this.begun + timeout * 1000;
    if (then === 'resume') this.endFrom = this.begun + timeout * 1000;
  }

  /** Whether this drain has a session. A session that has not named its server yet can be on any. */
  has({ service, server }) {
    return this.collection === 'services'
      ? service === this.name
      : this.ports.includes(server ?? this.ports[0]);
  }

  toString() {
    return `drain ${this.number} of ${this.name}`;
  }
}

/** Judges one run. */
export class Judge {
  breaches = [];
  counts = {
    ...{ drains: 0, resumes: 0, deadlines: 0, plans: 0, kills: 0, drained: 0, sessions: 0, statements: 0 },
    ...{ refused: 0, closed: 0, killed: 0 },
  };
  #begun = Date.now();
  #drains = [];
  #kills = [];
  #open = new Set();
  /** What has worked since the last resume; `undefined` before. */
  #working;

  breach(law, text) {
    const seconds = ((Date.now() - this.#begun) / 1000).toFixed(1);
    this.breaches.push({ law, text: `law ${law} after ${seconds} s: ${text}` });
  }

  // Clients

  connected(session) {
    this.counts.sessions += 1;
    this.#open.add(session);
  }

  left(session) {
    this.#open.delete(session);
  }

  /** A statement was answered that the session sent at `session.worked`. */
  answered(session) {
    this.counts.statements += 1;
    const { node, service, client, server, begun, worked } = session;
    for (const drain of this.#drains) {
      if (drain.over < worked || !drain.has(session)) continue;
      if (drain.plans.get(node)?.at < worked) this.#count(drain, session);
      const claim = drain.claims.get(node);
      if (claim < worked && worked < drain.endFrom)
        this.breach(3, `${told(session)} works ${worked - claim} ms after ${drain} was called drained`);
    }
    if (begun >= this.#working?.since)
      [client, `${node} ${service}`, `${node} ${server}`].forEach((each) => this.#working.add(each));
  }

  /** A client was refused, or has lost its session. */
  failed(session, error) {
    const { node, service, begun, ready, worked, ended } = session;
    const isAdministrator = error.code === '57P01';
    const kill = this.#kills.find((each) => each.node === node && each.begun <= ended && worked <= each.back);
    if (kill !== undefined && !isAdministrator) {
      this.counts[ready === undefined ? 'refused' : 'killed'] += 1;
      return;
    }
    const drains = this.#drains.filter((drain) => drain.begun <= ended && worked <= drain.over);
    if (ready === undefined && !isAdministrator) {
      this.counts.refused += 1;
      const blamed = Array.from(error.message.matchAll(/([\w-]+) drains/g), ([, server]) => server);
      if (error.code === 'ECONNREFUSED' || error.message.endsWith('is stopped.')) blamed.push(service);
      if (!blamed.every((name) => drains.some((drain) => drain.name === name)))
        this.breach(5, `${told(session)} was refused: ${error.message}`);
      return;
    }
    const own = drains.filter((drain) => drain.has(session));
    const closing = own.find(({ closeFrom }) => closeFrom <= ended);
    if (closing !== undefined) {
      this.counts.closed += 1;
      this.#count(closing, session);
      return;
    }
    const why = own.map(
      (drain) => `${drain}, ${JSON.stringify(drain.options)}, since ${ended - drain.begun} ms`,
    );
    const after = `${ended - begun} ms after it began: ${error.message}`;
    this.breach(
      own.length > 0 ? 1 : 2,
      `${told(session)} failed ${after}; ${why.join('; ') || 'nothing drains'}`,
    );
  }

  /** A session was open before and after a plan, so the plan counts it. */
  #count(drain, session) {
    const plan = drain.plans.get(session.node);
    if (plan?.known.delete(session) !== true) return;
    plan.found += 1;
    if (plan.found === plan.count + 1)
      this.breach(2, `${session.node} has planned ${drain} with ${plan.count} sessions, and more were open`);
  }

  // The operator

  /** The first request for a drain begins. */
  drain(about) {
    this.counts.drains += 1;
    const drain = new Drain(about);
    this.#drains.push(drain);
    return drain;
  }

  /** A node has planned a drain. The request began at `begun`. */
  plan(drain, node, { count, begun }) {
    this.counts.plans += 1;
    const isKnown = (each) => each.node === node && each.ready < begun && each.server && drain.has(each);
    const known = new Set([...this.#open].filter(isKnown));
    drain.plans.set(node, { count, at: Date.now(), known, found: 0 });
  }

  /** A node says that it has drained, or another node says so. Gives whether the judge did not know. */
  claim(drain, node) {
    if (drain.claims.has(node)) return false;
    this.counts.drained += 1;
    drain.claims.set(node, Date.now());
    return true;
  }

  /**
   * What PostgreSQL has at a node that has drained. Gives how many sessions are left from before, and are about to end.
   */
  seen(drain, node, rows) {
    const claim = drain.claims.get(node);
    const [fresh] = rows.filter(({ begun }) => begun > claim && begun < drain.endFrom);
    if (fresh !== undefined) {
      const since = `${Math.round(fresh.begun - claim)} ms after ${drain} was called drained`;
      this.breach(3, `PostgreSQL has the session ${fresh.session}, which began ${since}`);
    }
    return rows.filter(({ begun }) => begun <= claim).length;
  }

  kill(node) {
    this.counts.kills += 1;
    const kill = { node, begun: Date.now(), back: Infinity };
    this.#kills.push(kill);
    return kill;
  }

  /** Nothing drains any more. */
  resumedAll() {
    this.#working = Object.assign(new Set(), { since: Date.now() });
  }

  /** Which clients and places have not worked since the last resume. */
  idle(wanted) {
    return wanted.filter((each) => !this.#working.has(each));
  }
}

function told({ client, visit, node, service, server = 'unknown' }) {
  return `client ${client}-${visit} at ${node}, ${service}, server port ${server}`;
}
