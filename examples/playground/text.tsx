/**
 * The scenario as text: what has happened goes out, and another scenario comes in.
 */
import { useState } from 'preact/hooks';

import type { Props } from './panel.tsx';
import { titlesOf } from './player.ts';

/** The scenarios that the panel offers. The build gives them. */
declare const scenarios: string;

export function Text({ player }: Props) {
  const [text, setText] = useState<string>();
  const [fault, setFault] = useState('');
  const load = (given: string, title?: string): void => {
    try {
      player.loadText(given, title);
      setFault('');
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  const take = async (files: FileList | null | undefined): Promise<void> => setText(await files?.[0]?.text());
  return (
    <fieldset
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer?.files);
      }}
    >
      <legend>Scenario</legend>
      <Choice label="Play" of={scenarios} onChoice={(title) => load(scenarios, title)} />
      <button class="small" onClick={() => setText(player.text)}>
        Export as scenario
      </button>
      <label class="file">
        <span>Open or drop a file</span>
        <input type="file" accept=".txt" onChange={({ currentTarget: { files } }) => void take(files)} />
      </label>
      {text !== undefined && (
        <>
          <textarea
            aria-label="Text of the scenario"
            rows={12}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget: { value } }) => setText(value)}
          />
          {titlesIn(text).length > 1 ? (
            <Choice label="Step through" of={text} onChoice={(title) => load(text, title)} />
          ) : (
            <button class="small" onClick={() => load(text)}>
              Step through
            </button>
          )}
          <button class="small" onClick={() => setText(undefined)}>
            Close
          </button>
        </>
      )}
      {fault !== '' && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** The text with the scenarios. */
  readonly of: string;
  readonly onChoice: (title: string) => void;
}

function Choice({ label, of, onChoice }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value=""
      onChange={({ currentTarget }) => {
        onChoice(currentTarget.value);
        currentTarget.value = '';
      }}
    >
      <option value="">{label} …</option>
      {titlesIn(of).map((title) => (
        <option key={title}>{title}</option>
      ))}
    </select>
  );
}

/** The titles of the scenarios; none of a text that cannot be read. */
function titlesIn(text: string): readonly string[] {
  try {
    return titlesOf(text);
  } catch {
    return [];
  }
}
