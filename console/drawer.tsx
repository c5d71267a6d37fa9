/**
 * The drawer of a resource: its state and acts, its settings as a form, its history.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Client, EndpointId } from 'gateway-admin-core/client';
import type { May, Operation, Problem } from 'gateway-admin-core';

import { actsOnResource, patching, type Input, type Subject, type Typed } from './act.ts';
import { commandOf } from './connection.ts';
import { fieldTable, type Field } from './field-table.js';
import { InputField } from './field.tsx';
import { faultsByField, patchOf, textsOf } from './form.ts';
import { HistoryList } from './history.tsx';
import { usePage } from './page.ts';
import { tabs } from './place.ts';
import { valueText } from './plan.ts';
import { useStore } from './store.ts';
import { DrainState, nameInLink, ResourceLink } from './tables.tsx';
import { text } from './text.ts';

type Resource = Readonly<Record<string, unknown>> & { readonly name?: string; readonly may: readonly May[] };

/** What was read of a resource. */
type Read =
  | { readonly state: 'reading' }
  | { readonly state: 'read'; readonly resource: Resource; readonly etag: string | undefined }
  | { readonly state: 'failed'; readonly detail: string };

/** Reads the resource at a link, and what the caller may do with it. */
async function readResource(client: Client, link: string): Promise<Read> {
  const [, collection = '', name = ''] = link.split('/');
  const groups = client as unknown as Readonly<
    Record<string, { readonly get?: (...given: readonly unknown[]) => Promise<Answer<Resource>> } | undefined>
  >;
  const get = groups[collection]?.get;
  if (get === undefined) return { state: 'failed', detail: text.drawer.gone };
  try {
    const answer = await (name === '' ? get({ may: true }) : get(decodeURIComponent(name), { may: true }));
    if (!answer.ok) return { state: 'failed', detail: answer.problem.detail };
    return { state: 'read', resource: answer.value, etag: answer.etag };
  } catch (error) {
    return { state: 'failed', detail: (error as Error).message };
  }
}

export function Drawer({ link }: { readonly link: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const { tab } = useStore(page.place);
  const { lists, events } = useStore(page.model);
  const [read, setRead] = useState<Read>({ state: 'reading' });
  const [, collection = ''] = link.split('/');
  // What the page has read anew may be of another state.
  const stamp = lists[collection as keyof typeof lists]?.at;
  const newest = events[0]?.id;
  useEffect(() => {
    let isLate = false;
    if (client !== undefined)
      void readResource(client, link).then((next) => {
        if (!isLate) setRead(next);
      });
    return () => {
      isLate = true;
    };
  }, [client, link, stamp, newest]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const name = read.state === 'read' ? (read.resource.name ?? nameInLink(link)) : nameInLink(link);
  return (
    <aside class="drawer" aria-labelledby="drawer-title">
      <h2 id="drawer-title" tabIndex={-1} ref={heading}>
        {name} <span class="soft">{collection}</span>
      </h2>
      <button type="button" class="close" onClick={() => page.go({ open: '' })}>
        {text.drawer.close}
      </button>
      {read.state === 'reading' && <p class="soft">{text.drawer.loading}</p>}
      {read.state === 'failed' && <p class="bad">{read.detail}</p>}
      {read.state === 'read' && (
        <>
          <Acts subject={{ collection, link, name }} resource={read.resource} />
          <div class="tabs" role="tablist" aria-label={name}>
            {tabs.map((each) => (
              <button
                key={each}
                type="button"
                role="tab"
                aria-selected={each === tab}
                onClick={() => page.go({ tab: each }, 'replace')}
              >
                {text.tabs[each]}
              </button>
            ))}
          </div>
          <div role="tabpanel" aria-label={text.tabs[tab]}>
            {tab === 'state' && <State collection={collection} resource={read.resource} />}
            {tab === 'settings' && <Settings subject={{ collection, link, name }} read={read} />}
            {tab === 'history' && <HistoryList resource={link} />}
          </div>
        </>
      )}
    </aside>
  );
}

/** The acts on a resource. Of one that is not possible, the reason is shown. */
function Acts({ subject, resource }: { readonly subject: Subject; readonly resource: Resource }) {
  const { may } = resource;
  const page = usePage();
  // In the order of the table, not of the answer.
  const rows = (Object.keys(actsOnResource) as EndpointId[]).flatMap((id) => {
    const [row, known] = [may.find((each) => each.id === id), actsOnResource[id]];
    if (row === undefined || known === undefined || known.isMoot?.(resource) === true) return [];
    return [{ row, act: known.act(subject) }];
  });
  const denied = rows.filter(({ row }) => !row.allowed);
  return (
    <>
      <div class="acts">
        {rows.map(({ row, act }) => (
          <button
            key={row.id}
            type="button"
            aria-disabled={!row.allowed}
            aria-describedby={row.allowed ? undefined : `may-${row.id}`}
            onClick={() => row.allowed && page.ask(act)}
          >
            {act.title}
          </button>
        ))}
      </div>
      {denied.length > 0 && (
        <details class="denied">
          <summary>
            {text.drawer.mayNot} {denied.map(({ act }) => act.title).join(', ')}
          </summary>
          <ul>
            {denied.map(({ row, act }) => (
              <li key={row.id} id={`may-${row.id}`}>
                <strong>{act.title}</strong>: {'detail' in row ? row.detail : ''}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function State({ collection, resource }: { readonly collection: string; readonly resource: Resource }) {
  const fields = fieldTable[collection] ?? [];
  const names = Object.keys(resource).filter((name) => name !== 'may' && name !== 'name');
  return (
    <dl class="fields">
      {names.map((name) => (
        <div key={name}>
          <dt>
            {name}
            <span class="soft meaning">{fields.find((field) => field.name === name)?.does}</span>
          </dt>
          <dd>
            <Value name={name} value={resource[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (name === 'drain') return <DrainState drain={value as never} />;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && each.startsWith('/')))
    return (
      <>
        {(value as readonly string[]).map((link) => (
          <ResourceLink key={link} link={link} name={nameInLink(link)} />
        ))}
      </>
    );
  return <>{valueText(value)}</>;
}

interface SettingsProps {
  readonly subject: Subject;
  readonly read: Extract<Read, { readonly state: 'read' }>;
}

/** The settings as a form. What a person has typed stays, whatever happens meanwhile. */
function Settings({ subject, read }: SettingsProps) {
  const page = usePage();
  const client = useStore(page.client);
  const fields = (fieldTable[subject.collection] ?? []).filter(({ isSettable }) => isSettable);
  const [base, setBase] = useState(read);
  const [typed, setTyped] = useState<Typed>(() => textsOf(fields, read.resource));
  const [refusal, setRefusal] = useState<{
    readonly problem: Problem;
    readonly patch: readonly Operation[];
  }>();
  const patch = patchOf(fields, base.resource, typed);
  const isOld = base.etag !== read.etag;
  useEffect(() => {
    // Nothing is typed: the form shows the values of now.
    if (isOld && patch.length === 0) take();
  }, [read]);

  function take(): void {
    setBase(read);
    setTyped(textsOf(fields, read.resource));
    setRefusal(undefined);
  }

  /** Faults are shown at their fields before the dialog opens. */
  async function plan(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (client === undefined || patch.length === 0) return;
    const act = patching(subject, patch, base.etag);
    const answer = await commandOf(client, act.id).plan(...act.given, act.options);
    const problem = answer.ok ? undefined : answer.problem;
    if (problem?.errors === undefined) {
      setRefusal(undefined);
      page.ask(act);
    } else setRefusal({ problem, patch });
  }

  if (fields.length === 0) return <p class="soft">{text.drawer.nothing}</p>;
  const faults = refusal === undefined ? {} : faultsByField(refusal.problem.errors ?? [], refusal.patch);
  return (
    <form class="settings" onSubmit={(event) => void plan(event)}>
      {isOld && patch.length > 0 && <ChangedMeanwhile take={take} />}
      {fields.map((field) => (
        <SettingField
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          fault={faults[field.name]}
          change={(value) => setTyped({ ...typed, [field.name]: value })}
        />
      ))}
      {faults[''] !== undefined && <p class="bad">{faults['']}</p>}
      <div class="buttons">
        <button type="button" onClick={take} disabled={patch.length === 0}>
          {text.drawer.reset}
        </button>
        <button type="submit" class="primary" disabled={patch.length === 0}>
          {text.drawer.plan}
        </button>
      </div>
    </form>
  );
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

interface FieldProps {
  readonly field: Field;
  readonly value: string;
  readonly fault: string | undefined;
  readonly change: (value: string) => void;
}

function SettingField({ field, value, fault, change }: FieldProps) {
  return <InputField input={inputOf(field)} value={value} fault={fault} change={change} />;
}

const inputTypes: Readonly<Record<Field['type'], Input['type']>> = {
  text: 'text',
  number: 'number',
  flag: 'choice',
  choice: 'choice',
  names: 'text',
  words: 'text',
  map: 'long',
};

export function inputOf({ name, does, type, choices, isSecret }: Field): Input {
  const values = type === 'flag' ? ['true', 'false'] : choices;
  return {
    name,
    label: name,
    hint: isSecret === true ? `${does} ${text.drawer.secret}` : does,
    type: isSecret === true ? 'password' : values === undefined ? inputTypes[type] : 'choice',
    ...(values === undefined ? {} : { choices: ['', ...values].map((each) => [each, each] as const) }),
  };
}
