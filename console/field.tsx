/**
 * A field of a form.
 */
import { useId } from 'preact/hooks';

import type { Input } from './form.ts';

interface Props {
  readonly input: Input;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isDisabled?: boolean;
  /** What is wrong with the value; left out if nothing is. */
  readonly fault?: string | undefined;
}

export function InputField({
  input: { name, label, type, hint, choices },
  value,
  change,
  isDisabled,
  fault,
}: Props) {
  const id = useId();
  const notes = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`];
  const write = ({
    currentTarget,
  }: {
    readonly currentTarget: HTMLInputElement | HTMLTextAreaElement;
  }): void => change(currentTarget.value);
  const shared = {
    id,
    name,
    disabled: isDisabled ?? false,
    'aria-describedby': notes.join(' ').trim() || undefined,
    'aria-invalid': fault !== undefined,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'long' && <textarea {...shared} rows={4} value={value} onInput={write} />}
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
      {hint !== undefined && (
        <p class="soft" id={`${id}-hint`}>
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
