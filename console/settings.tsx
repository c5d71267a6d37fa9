/**
 * The settings of a resource as a form, which becomes a patch. What a person has typed stays, whatever happens
 * meanwhile.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Operation, Problem } from 'gateway-admin-core';

import { patching, type Subject } from './act.ts';
import { commandOf } from './connection.ts';
import { InputField } from './field.tsx';
import { faultsByField, linksIn, patchOf, textsOf, type Typed } from './form.ts';
import { useMeanings, type Field } from './meaning.ts';
import { nameAt } from './name.ts';
import { usePage, type Page } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';

/** A resource as it was read, and its entity tag. */
interface ReadResource {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly etag: string | undefined;
}

interface SettingsProps {
  readonly subject: Subject;
  readonly read: ReadResource;
  readonly fields: readonly Field[];
}

/** What a person has typed and not saved, by the link of the resource. It stays, however the form is left. */
const drafts = new Map<string, Draft>();

interface Draft {
  readonly base: ReadResource;
  readonly typed: Typed;
}

function keep(link: string, draft: Draft | undefined): void {
  if (draft === undefined) drafts.delete(link);
  else drafts.set(link, draft);
}

export function Settings(props: Omit<SettingsProps, 'fields'>) {
  const fields = useMeanings().fields[props.subject.collection];
  if (fields === undefined) return <p class="soft">{text.drawer.nothing}</p>;
  const settable = fields.filter(({ isSettable }) => isSettable);
  if (settable.length === 0) return <p class="soft">{text.drawer.nothing}</p>;
  // What belongs to the resource comes first, and what needs much room last.
  const rank = ({ type }: Field): number =>
    ['names', '', 'map'].indexOf(type === 'names' || type === 'map' ? type : '');
  const ordered = settable.toSorted((one, other) => rank(one) - rank(other));
  return <SettingsForm {...props} fields={ordered} />;
}

function SettingsForm({ subject, read, fields }: SettingsProps) {
  const page = usePage();
  const client = useStore(page.client);
  const draft = drafts.get(subject.link);
  const [base, setBase] = useState(draft?.base ?? read);
  const [typed, setTyped] = useState<Typed>(() => draft?.typed ?? textsOf(fields, read.resource));
  const [refusal, setRefusal] = useState<{
    readonly problem: Problem;
    readonly patch: readonly Operation[];
  }>();
  const patch = patchOf(fields, base.resource, typed);
  keep(subject.link, patch.length > 0 ? { base, typed } : undefined);
  const isOld = base.etag !== read.etag;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [refusal]);
  useEffect(() => {
    // Nothing is typed: the form shows the values of now.
    if (isOld && patch.length === 0) take();
  }, [read, patch.length]);

  function take(): void {
    setBase(read);
    setTyped(textsOf(fields, read.resource));
    setRefusal(undefined);
  }

  /** Faults are shown at their fields before the dialog opens. */
  async function plan(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (client === undefined || patch.length === 0) return;
    const act = patching(subject, patch);
    const answer = await commandOf(client, act.id).plan(...act.given);
    const problem = answer.ok ? undefined : answer.problem;
    if (problem?.errors === undefined) {
      setRefusal(undefined);
      // What is saved is typed no longer, and the values of now follow.
      page.ask({ ...act, onDone: () => setTyped(textsOf(fields, base.resource)) });
    } else setRefusal({ problem, patch });
  }

  const before = textsOf(fields, base.resource);
  const edits = fields.filter(({ name }) => (typed[name] ?? '') !== before[name]);
  const faults = refusal === undefined ? {} : faultsByField(refusal.problem.errors ?? [], refusal.patch);
  return (
    <form class="settings" ref={form} onSubmit={(event) => void plan(event)}>
      {isOld && patch.length > 0 && <ChangedMeanwhile take={take} />}
      <Fields fields={fields} edits={edits} before={before} typed={typed} faults={faults} change={setTyped} />
      {faults[''] !== undefined && <p class="bad">{faults['']}</p>}
      {edits.length > 0 && <Edits edits={edits} isPlannable={patch.length > 0} take={take} />}
    </form>
  );
}

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly edits: readonly Field[];
  readonly before: Typed;
  readonly typed: Typed;
  readonly faults: Typed;
  readonly change: (typed: Typed) => void;
}

/** The fields. The one that was used last shows its meaning: what leaves it does not move what is pressed. */
function Fields({ fields, edits, before, typed, faults, change }: FieldsProps) {
  const page = usePage();
  const [asked, setAsked] = useState('');
  return (
    <>
      {fields.map((field) => (
        <InputField
          key={field.name}
          form="settings"
          input={field.input}
          value={typed[field.name] ?? ''}
          fault={faults[field.name]}
          isAsked={field.name === asked}
          ask={() => setAsked(field.name)}
          was={
            field.isSecret === true || !edits.includes(field)
              ? undefined
              : text.drawer.was(shownText(page, field, before[field.name]))
          }
          change={(value) => change({ ...typed, [field.name]: value })}
        />
      ))}
    </>
  );
}

interface EditsProps {
  readonly edits: readonly Field[];
  readonly isPlannable: boolean;
  readonly take: () => void;
}

/** Which fields are edited, and what can be done with the edits. In sight wherever the form is. */
function Edits({ edits, isPlannable, take }: EditsProps) {
  return (
    <div class="edits">
      <p>
        <b>{text.drawer.edits(edits.length)}</b>{' '}
        <span class="soft">{edits.map(({ name }) => name).join(', ')}</span>
      </p>
      <button type="button" onClick={take}>
        {text.drawer.reset}
      </button>
      <button type="submit" class="primary" disabled={!isPlannable}>
        {text.drawer.plan}
      </button>
    </div>
  );
}

/** A value as a person sees it. */
function shownText({ model }: Page, { name, type }: Field, value = ''): string {
  const shown =
    type === 'names'
      ? linksIn(name, value)
          .map((link) => nameAt(model.get(), link))
          .join(', ')
      : value.trim();
  return shown || text.plan.nothing;
}

function ChangedMeanwhile({ take }: { readonly take: () => void }) {
  return (
    <p role="alert">
      {text.drawer.changedMeanwhile}{' '}
      <button type="button" onClick={take}>
        {text.drawer.take}
      </button>
    </p>
  );
}
