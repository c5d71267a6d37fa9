/**
 * Every act on every resource of an interface, as the page offers it, with its plan.
 */
import type { Admin, Plan } from 'gateway-admin-core';
import { createClient, sendTo, type Answer, type Elements } from 'gateway-admin-core/client';

import { actsOnResource, type Act, type Subject } from '../../console/act.ts';
import { commandOf } from '../../console/connection.ts';

type Shown = Readonly<Record<string, unknown>>;

/** An act as it is offered, and what its plan is. */
export interface PlannedAct {
  readonly act: Act;
  readonly subject: Subject;
  readonly resource: Shown;
  /** Whether the page says that the act would change nothing. */
  readonly isMoot: boolean;
  readonly answer: Answer<Plan>;
}

const collections = ['services', 'servers', 'monitors', 'filters', 'sessions'] as const;

/** The acts on each resource, and on the gateway itself. */
export async function plannedActs(admin: Admin): Promise<readonly PlannedAct[]> {
  const client = createClient(sendTo(admin));
  const subjects: (readonly [Subject, Shown])[] = [];
  for (const collection of collections) {
    const list = client[collection].list as unknown as () => Promise<Answer<Elements<Shown>>>;
    const answer = await list();
    for (const resource of answer.ok ? answer.value.elements : []) {
      const name = String(resource['name'] ?? resource['id']);
      subjects.push([{ collection, name, link: `/${collection}/${encodeURIComponent(name)}` }, resource]);
    }
  }
  const self = await client.interface.get();
  const gateway = self.ok ? (self.value as object as Shown) : {};
  for (const collection of ['interface', 'gateway', 'fleet'])
    subjects.push([{ collection, name: 'Main', link: '/' }, gateway]);

  const planned: PlannedAct[] = [];
  for (const [subject, resource] of subjects)
    for (const { id, act: make, isMoot } of actsOnResource)
      if (id.startsWith(`${subject.collection}.`)) {
        const act = make(subject, resource);
        const answer = await planOf(admin, act);
        planned.push({ act, subject, resource, isMoot: isMoot?.(resource) === true, answer });
      }
  return planned;
}

/** The plan of an act, with the first value of each choice and nothing else typed. */
export function planOf(admin: Admin, act: Act, typed = firstValues(act)): Promise<Answer<Plan>> {
  const client = createClient(sendTo(admin));
  const method = act.methodOf?.(client) ?? commandOf(client, act.id);
  return method.plan(...(act.withInputs?.(typed) ?? act.given), { ...act.options });
}

function firstValues({ inputs = [] }: Act): Readonly<Record<string, string>> {
  return Object.fromEntries(inputs.map(({ name, choices }) => [name, choices?.[0]?.[0] ?? '']));
}

/** The plan in an answer; an error where there is none. */
export function acceptedIn(answer: Answer<Plan>): Plan {
  if (!answer.ok) throw new Error(answer.problem.detail);
  return answer.value;
}
