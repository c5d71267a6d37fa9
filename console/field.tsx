/**
 * A field of a form.
 */
import { linkTo } from 'gateway-admin-core';

import { linksIn, linksText } from './form.ts';
import type { Input } from './meaning.ts';
import { rowsOf, type Collection } from './model.ts';
import { nameAt } from './name.ts';
import { usePage } from './page.ts';
import { useStore } from './store.ts';

interface Props {
  /** The form that the input is in: an id of its own in the page. */
  readonly form: string;
  readonly input: Input;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isDisabled?: boolean;
  /** What is wrong with the value; left out if nothing is. */
  readonly fault?: string | undefined;
  /** What the value was before it was edited; left out if it was not. */
  readonly was?: string | undefined;
  /** Whether a person has used the field last. */
  readonly isAsked?: boolean;
  /** Called when a person begins to use the field. */
  readonly ask?: () => void;
}

export function InputField({ form, input, value, change, isDisabled, fault, ...edit }: Props) {
  const { was, isAsked = false, ask } = edit;
  const { name, label, type, hint } = input;
  const id = `${form}-${name}`;
  const notes = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`];
  const shared = {
    id,
    name,
    disabled: isDisabled ?? false,
    'aria-describedby': notes.join(' ').trim() || undefined,
    'aria-invalid': fault !== undefined,
  };
  return (
    <div
      class={`field is-${type} ${was === undefined ? '' : 'edited'} ${isAsked ? 'asked' : ''}`}
      onFocusIn={ask}
    >
      {type === 'links' ? <span id={`${id}-label`}>{label}</span> : <label for={id}>{label}</label>}
      <Control input={input} value={value} change={change} shared={shared} />
      {was !== undefined && <p class="soft was">{was}</p>}
      {hint !== undefined && (
        <p class="soft hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p class="bad" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends Pick<Props, 'input' | 'value' | 'change'> {
  /** What each control has, of whatever type it is. */
  readonly shared: {
    readonly id: string;
    readonly name: string;
    readonly disabled: boolean;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  };
}

/** What takes the value. */
function Control({ input: { name, type, choices }, value, change, shared }: ControlProps) {
  const write = ({
    currentTarget,
  }: {
    readonly currentTarget: HTMLInputElement | HTMLTextAreaElement;
  }): void => change(currentTarget.value);
  return (
    <>
      {type === 'links' && (
        <LinkChoices
          collection={name}
          value={value}
          change={change}
          shared={{ disabled: shared.disabled, 'aria-invalid': shared['aria-invalid'] }}
          group={{ 'aria-labelledby': `${shared.id}-label`, 'aria-describedby': shared['aria-describedby'] }}
        />
      )}
      {type === 'long' && (
        <textarea
          {...shared}
          rows={Math.min(Math.max(value.split('\n').length, 2), 12)}
          value={value}
          onInput={write}
        />
      )}
      {type === 'password' && (
        <input {...shared} type="password" autocomplete="new-password" value={value} onInput={write} />
      )}
      {(type === 'text' || type === 'number') && (
        <input
          {...shared}
          inputMode={type === 'number' ? 'decimal' : 'text'}
          autocomplete="off"
          value={value}
          onInput={write}
        />
      )}
      {type === 'choice' && (
        <select {...shared} value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
          {choices?.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly collection: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly shared: object;
  readonly group: object;
}

/** What there is, each with a box. What is chosen has its position, because the order counts. */
function LinkChoices({ collection, value, change, shared, group }: ChoicesProps) {
  const page = usePage();
  const model = useStore(page.model, 'lists');
  const chosen = linksIn(collection, value);
  const rows = rowsOf(model, collection as Collection) as readonly { readonly name: string }[];
  const all = [...new Set([...chosen, ...rows.map(({ name }) => linkTo(collection, name))])];
  return (
    <div class="choices" role="group" {...group}>
      {all.map((link) => {
        const at = chosen.indexOf(link);
        return (
          <label key={link}>
            <input
              type="checkbox"
              {...shared}
              checked={at >= 0}
              onChange={() =>
                change(linksText(at < 0 ? [...chosen, link] : chosen.filter((each) => each !== link)))
              }
            />{' '}
            {chosen.length > 1 && at >= 0 && <span class="soft">{at + 1}.</span>} {nameAt(model, link)}
          </label>
        );
      })}
    </div>
  );
}

/** What makes an option the one to which its form is reset. The types of Preact lack it. */
export function chosenAtFirst(isChosen: boolean): object {
  return { defaultSelected: isChosen };
}
