/**
 * A field of a form.
 */
import type { Input } from './meaning.ts';

interface Props {
  /** The form that the input is in: an id of its own in the page. */
  readonly form: string;
  readonly input: Input;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isDisabled?: boolean;
  /** What is wrong with the value; left out if nothing is. */
  readonly fault?: string | undefined;
}

export function InputField({
  form,
  input: { name, label, type, hint, choices },
  value,
  change,
  isDisabled,
  fault,
}: Props) {
  const id = `${form}-${name}`;
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
