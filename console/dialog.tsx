/**
 * The dialog of an act: shows the plan, does exactly that, and says what was done. What happens meanwhile neither
 * changes nor closes it: the mark of the plan finds out whether the plan still holds.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Client, CommandOutcome, Told } from 'gateway-admin-core/client';
import type { Plan, Problem } from 'gateway-admin-core';

import { adopting, buttonText, typedFor, undoing, type Act } from './act.ts';
import { commandOf, type CommandMethod } from './connection.ts';
import { InputField } from './field.tsx';
import { faultsByField, type Typed } from './form.ts';
import { findFocus } from './key.ts';
import { useMeanings } from './meaning.ts';
import { rowsOf } from './model.ts';
import { useNow } from './now.ts';
import { usePage, type Page } from './page.ts';
import { nameAt } from './name.ts';
import { differenceOf, planParts, partsOf } from './plan.ts';
import { Sentences } from './sentence.tsx';
import { useStore } from './store.ts';
import { scopeOf, type Scope } from './scope.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, tookText } from './time.ts';
import { ReadOnly } from './top.tsx';

type Phase =
  | { readonly name: 'planning' }
  /** Values are missing. */
  | { readonly name: 'asking'; readonly missing: readonly string[] }
  | { readonly name: 'planned'; readonly plan: Plan; readonly before?: Plan }
  | { readonly name: 'refused'; readonly problem: Problem }
  | { readonly name: 'broken'; readonly detail: string }
  | { readonly name: 'working'; readonly plan: Plan; readonly since: number };

export function ActDialog() {
  const page = usePage();
  const act = useStore(page.asked);
  const client = useStore(page.client);
  useDroppedDocument(page);
  if (act === undefined || client === undefined) return null;
  return <OpenDialog act={act} client={client} close={() => page.asked.set(undefined)} />;
}

/** Compares a document that falls onto the page with the gateway. */
function useDroppedDocument({ ask }: Page): void {
  useEffect(() => {
    const stay = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      stay(event);
      void event.dataTransfer?.files[0]?.text().then((document) => ask(adopting(document)));
    };
    addEventListener('dragover', stay);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', stay);
      removeEventListener('drop', drop);
    };
  }, [ask]);
}

interface Props {
  readonly act: Act;
  readonly client: Client;
  readonly close: () => void;
}

function OpenDialog({ act, client, close }: Props) {
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState<Typed>(() => firstValues(act));
  // What is done, with what the person has typed.
  const given = act.withInputs?.(typed) ?? act.given;
  const title = act.titleWith?.(typed) ?? act.title;
  const scope = scopeOf(useStore(page.model, 'lists'), act);
  const chosen = { ...act, given, title, options: act.optionsWith?.(typed) ?? act.options ?? {} };
  const [phase, setPhase, planAgain] = usePlan(client, chosen, typed);
  const { acts: meant } = useMeanings();
  const faults = phase.name === 'refused' ? faultsByField(phase.problem.errors ?? [], []) : {};

  useEffect(() => {
    dialog.current?.showModal();
    // What has opened the dialog may be gone when the dialog closes.
    return findFocus;
  }, []);

  async function send(plan: Plan): Promise<void> {
    const since = performance.now();
    setPhase({ name: 'working', plan, since });
    const next = await perform(page, client, chosen, plan, since);
    const isLeft = page.asked.get() !== act;
    if (!isLeft && next === undefined) dialog.current?.close();
    else if (!isLeft && next !== undefined) setPhase(next);
    // The person has left the dialog, and another one may be open by now.
    else if (next !== undefined)
      page.tell({ kind: 'refused', text: text.done.failed(title), detail: reasonOf(next) });
  }

  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="dialog-title" data-phase={phase.name}>
      <h2 id="dialog-title">
        {title} <span class="scope">{scope.where}</span>
      </h2>
      <p class="soft">{meant[act.row ?? act.id] ?? meant[act.id]}</p>
      {act.inputs?.map((input) => (
        <InputField
          key={input.name}
          form="act"
          input={input}
          value={typed[input.name] ?? ''}
          isDisabled={phase.name === 'working'}
          fault={faults[input.name]}
          change={(value) => setTyped({ ...typed, [input.name]: value })}
        />
      ))}
      <div class="plan" aria-live="polite">
        <PhaseText phase={phase} counted={scope.counted} />
        <OtherNodes scope={scope} />
        <Others act={act} />
      </div>
      <Buttons
        // A changed plan has buttons of its own: what was typed or pressed was for the earlier one.
        key={phase.name === 'planned' && phase.before !== undefined}
        act={chosen}
        where={scope.where}
        phase={phase}
        send={(plan) => void send(plan)}
        planAgain={planAgain}
        close={() => dialog.current?.close()}
      />
    </dialog>
  );
}

/** What the act means at the other nodes of a fleet. */
function OtherNodes({ scope }: { readonly scope: Scope }) {
  return (
    <>
      {scope.others.map((each) => (
        <p key={each} class="scope">
          {each}
        </p>
      ))}
    </>
  );
}

/** The plan of an open dialog. It depends on what the person types, and on nothing else. */
function usePlan(
  client: Client,
  act: Act,
  typed: Typed,
): readonly [Phase, (phase: Phase) => void, () => void] {
  const [phase, setPhase] = useState<Phase>({ name: 'planning' });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isLate = false;
    const missing = missingIn(act, typed);
    setPhase(missing.length > 0 ? { name: 'asking', missing } : { name: 'planning' });
    if (missing.length > 0) return undefined;
    // While a person types, each letter would ask for a plan.
    const delayMs = act.inputs === undefined ? 0 : 250;
    const timer = setTimeout(() => {
      void planOf(client, act).then((next) => {
        if (!isLate) setPhase(next);
      });
    }, delayMs);
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [client, act.id, JSON.stringify([act.given, act.options]), turn]);
  return [phase, setPhase, () => setTurn(turn + 1)];
}

/** Why an act was not done. */
function reasonOf(phase: Phase): string {
  if (phase.name === 'refused') return phase.problem.detail;
  return text.plan.changed;
}

/** The labels of the inputs without which nothing can be planned. */
function missingIn({ inputs = [] }: Act, typed: Typed): readonly string[] {
  return inputs
    .filter(({ name, isRequired }) => isRequired === true && typed[name] === '')
    .map(({ label }) => label);
}

function firstValues({ inputs = [], typed }: Act): Typed {
  return {
    ...Object.fromEntries(inputs.map(({ name, choices }) => [name, choices?.[0]?.[0] ?? ''])),
    ...typed,
  };
}

function methodFor(client: Client, { id, methodOf }: Act): CommandMethod {
  return methodOf?.(client) ?? commandOf(client, id);
}

/** How long a plan may take, in milliseconds. */
const planMs = 15_000;

/** The refusal of what is not there any more as it was seen. To plan it again would be refused again. */
function inOwnWords(problem: Problem): Problem {
  return problem.code === 'precondition-failed' ? { ...problem, detail: text.plan.another } : problem;
}

async function planOf(client: Client, act: Act): Promise<Phase> {
  try {
    const signal = AbortSignal.timeout(planMs);
    const answer = await methodFor(client, act).plan(...act.given, { ...act.options, signal });
    return answer.ok
      ? { name: 'planned', plan: answer.value }
      : { name: 'refused', problem: inOwnWords(answer.problem) };
  } catch (error) {
    const { name, message } = error as Error;
    return { name: 'broken', detail: name === 'TimeoutError' ? text.plan.silent : message };
  }
}

/** Does what a plan has shown. Gives what the dialog shows next; `undefined` if it is over. */
async function perform(
  page: Page,
  client: Client,
  act: Act,
  plan: Plan,
  since: number,
): Promise<Phase | undefined> {
  const options = { ...act.options, mark: plan.mark, prefer: 'representation' };
  let answer: Answer<unknown>;
  let last: string | undefined;
  try {
    last = (await historyOf(client))[0]?.id;
    answer = await methodFor(client, act)(...act.given, options);
  } catch (error) {
    page.tell({ kind: 'unknown', text: text.done.unknown(act.title), detail: (error as Error).message });
    return undefined;
  } finally {
    page.refresh();
  }
  if (answer.ok) {
    act.onDone?.();
    if (act.id === 'history.undo') page.forget(act);
    // The drawer of a deleted resource has nothing to show.
    const isGone = /\.(?:delete|close)$/.test(act.row ?? act.id);
    if (isGone && act.resources?.includes(page.place.get().open) === true) page.go({ open: '' });
    const scope = scopeOf(page.model.get(), act);
    const told = { ...act, title: `${act.title} ${scope.where}`.trim() };
    page.tell(await doneOf(client, told, plan, answer.value, performance.now() - since, last, scope));
    return undefined;
  }
  const { problem } = answer;
  if (problem.code === 'precondition-failed' && problem.plan !== undefined)
    return { name: 'planned', plan: problem.plan as Plan, before: plan };
  if (problem.code !== 'outcome-unknown') return { name: 'refused', problem: inOwnWords(problem) };
  page.tell({ kind: 'unknown', text: text.done.unknown(act.title), detail: problem.detail });
  return undefined;
}

async function doneOf(
  client: Client,
  act: Act,
  plan: Plan,
  value: unknown,
  took: number,
  last: string | undefined,
  scope: Scope,
) {
  const { command, closed, outcome } = (value ?? {}) as Partial<CommandOutcome>;
  const what =
    outcome === 'unchanged' ? text.done.unchanged(act.title) : text.done.title(act.title, tookText(took));
  const undo = outcome === 'unchanged' ? undefined : await undoOf(client, act, plan, command, last);
  const wasToClose = plan.closes.sessions + plan.closes.connections > 0;
  return {
    kind: 'done' as const,
    text: what,
    detail: [
      ...(closed !== undefined && wasToClose ? [text.done.closed(closed.sessions, closed.connections)] : []),
      ...scope.others,
    ].join(' '),
    ...(undo === undefined ? {} : { undo }),
  };
}

/** The newest entries of the history; none if they cannot be read. */
async function historyOf(client: Client) {
  const answer = await client.history.list({ range: [0, 19] }).catch(() => undefined);
  return answer?.ok === true ? answer.value.elements : [];
}

/**
 * The act that takes back what was just done; `undefined` if none can, or if that cannot be found out.
 *
 * @param last - the newest entry before the act: an entry that was there is that of somebody else
 */
async function undoOf(
  client: Client,
  { title }: Act,
  { events }: Plan,
  command: string | undefined,
  last: string | undefined,
): Promise<Act | undefined> {
  const entries = await historyOf(client);
  const old = entries.findIndex(({ id }) => id === last);
  // An answer with the resource names no command. Its entry has the events that the plan has shown.
  const wanted = changesIn(events);
  const entry = entries
    .slice(0, old < 0 ? undefined : old)
    .find((each) => (command === undefined ? changesIn(each.events) === wanted : each.id === command));
  return entry?.undo === 'possible' ? undoing(entry.id, title) : undefined;
}

/** What events have changed, as a text to compare. */
function changesIn(events: readonly unknown[]): string {
  return JSON.stringify(events, ['type', 'resource', 'operations', 'path', 'value']);
}

function PhaseText({ phase, counted }: { readonly phase: Phase; readonly counted: string }) {
  switch (phase.name) {
    case 'asking':
      return <p class="soft">{text.plan.required(phase.missing.join(', '))}</p>;
    case 'planning':
      return <Planning />;
    case 'broken':
      return <p class="bad">{phase.detail}</p>;
    case 'refused':
      return <Refusal problem={phase.problem} />;
    case 'working':
      return (
        <>
          <PlanText plan={phase.plan} counted={counted} />
          <Working since={phase.since} />
        </>
      );
    case 'planned':
      return (
        <>
          {phase.before !== undefined && <Difference before={phase.before} now={phase.plan} />}
          <PlanText plan={phase.plan} counted={counted} />
        </>
      );
  }
}

function Planning() {
  const [since] = useState(() => performance.now());
  const now = useNow();
  return <p class="soft">{text.plan.planning(durationText(now - since))}</p>;
}

function Refusal({ problem }: { readonly problem: Problem }) {
  return (
    <>
      <p class="bad">
        {text.plan.refused} {problem.detail}
      </p>
      {problem.errors?.[1] !== undefined && (
        <ul>
          {problem.errors.map(({ pointer, detail }) => (
            <li key={pointer}>
              {pointer} {detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Working({ since }: { readonly since: number }) {
  const now = useNow();
  return <p class="soft">{text.plan.working(durationText(now - since))}</p>;
}

function Difference({ before, now }: { readonly before: Plan; readonly now: Plan }) {
  const { model } = usePage();
  return (
    <div class="changed" role="alert">
      <p>
        <strong>{text.plan.anyway}</strong> {text.plan.changed}
      </p>
      <ul>
        {differenceOf(before, now, (link) => nameAt(model.get(), link)).map(({ was, is }) => (
          <li key={`${was ?? ''} ${is ?? ''}`}>
            {was !== undefined && [`${text.plan.was} `, <del>{was}</del>, ' ']}
            {is !== undefined && [`${text.plan.is} `, <ins>{is}</ins>]}
          </li>
        ))}
      </ul>
    </div>
  );
}

function PlanText({ plan, counted }: { readonly plan: Plan; readonly counted: string }) {
  const { model } = usePage();
  if (plan.outcome === 'unchanged') return <p>{text.plan.unchanged}</p>;
  const sentences = partsOf(plan, (link) => nameAt(model.get(), link));
  const isHarm = (part: string): boolean =>
    part === 'closes' && plan.closes.sessions + plan.closes.connections > 0;
  return (
    <dl>
      {planParts
        .filter((part) => sentences[part].length > 0)
        .map((part) => (
          <div key={part} class={isHarm(part) ? 'harm' : ''}>
            <dt>{text.plan.parts[part]}</dt>
            {sentences[part].map((each, at) => (
              <dd key={each}>
                {/* The nodes of a fleet close and keep their own. */}
                {at === 0 && counted !== '' && (part === 'closes' || part === 'stays')
                  ? each.replace(/[.]?$/, counted)
                  : each}
              </dd>
            ))}
          </div>
        ))}
    </dl>
  );
}

/** Who else changes the same resources when the dialog opens. */
function Others({ act: { resources = [] } }: { readonly act: Act }) {
  const page = usePage();
  const [others] = useState(() =>
    rowsOf(page.model.get(), 'commands').filter((command) =>
      command.resources.some((each) => resources.includes(each)),
    ),
  );
  if (others.length === 0) return null;
  return (
    <>
      <p>{text.plan.others}</p>
      <ul>
        {others.map((command) => (
          <li key={command.id}>
            <Sentences events={[command as unknown as Told]} tense="being" />{' '}
            {text.top.forBy(durationText(sinceInstant(command.since)), command.actor)}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ButtonProps {
  readonly act: Act;
  /** Where the act is done, in a fleet. */
  readonly where: string;
  readonly phase: Phase;
  readonly send: (plan: Plan) => void;
  readonly planAgain: () => void;
  readonly close: () => void;
}

function focusOn(element: HTMLElement | null): void {
  element?.focus();
}

/** Whether a plan changes nothing but the read-only mode, which refuses no such change. */
function changesModeAlone({ events }: Pick<Plan, 'events'>): boolean {
  return events.every((event) => (event as { readonly type: string }).type === 'interface.updated');
}

function Buttons({ act, where, phase, send, planAgain, close }: ButtonProps) {
  const page = usePage();
  const { gateway } = useStore(page.model, 'gateway');
  const [name, setName] = useState('');
  const accepted = phase.name === 'planned' && phase.plan.outcome === 'accepted' ? phase.plan : undefined;
  const isHeld = gateway?.read_only === true && accepted !== undefined && !changesModeAlone(accepted);
  const plan = isHeld ? undefined : accepted;
  const wanted = plan === undefined ? undefined : typedFor(act, plan, { ...gateway, address: location.host });
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan !== undefined && (wanted === undefined || name === wanted)) send(plan);
      }}
    >
      {wanted !== undefined && (
        <label>
          {text.plan.type(wanted)}
          <input
            ref={act.inputs === undefined ? focusOn : null}
            value={name}
            autocomplete="off"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
      )}
      {isHeld && (
        <p>
          <ReadOnly />
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={close}>
          {phase.name === 'working' ? text.plan.leave : text.plan.cancel}
        </button>
        {(phase.name === 'broken' ||
          (phase.name === 'refused' && phase.problem.code !== 'precondition-failed')) && (
          <button type="button" onClick={planAgain}>
            {text.plan.again}
          </button>
        )}
        {plan !== undefined && (
          <button type="submit" class="primary" disabled={wanted !== undefined && name !== wanted}>
            {`${buttonText(act, plan)} ${where}`.trim()}
          </button>
        )}
      </div>
    </form>
  );
}
