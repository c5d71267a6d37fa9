/**
 * The panel: what a person does to the world, what has happened there, and what the judge says.
 */
import { useState } from 'preact/hooks';

import { useStore } from '../../console/store.ts';
import type { ShownPlace } from './message.ts';
import type { Player, Shown } from './player.ts';
import { Steps } from './steps.tsx';
import { Text } from './text.tsx';
import { applyWays, groups, labels, writeWays, type Chosen, type Group } from './trouble.ts';

/** What every part of the panel has. */
export interface Props {
  readonly player: Player;
}

const speeds = [1, 10, 60] as const;

export function Panel({ player }: Props) {
  const shown = useStore(player.shown);
  const [isFolded, setFolded] = useState(true);
  const place = shown.places.find(({ node }) => node === shown.node);
  return (
    <div class={isFolded ? 'folded' : ''} onKeyDown={(event) => event.stopPropagation()}>
      <div class="bar">
        <div class="row">
          <Time player={player} shown={shown} />
          <button class="small unfold" aria-expanded={!isFolded} onClick={() => setFolded(!isFolded)}>
            Controls
          </button>
        </div>
        <div class="row">
          <Judged shown={shown} />
          <time class="soft">{place && new Date(place.now).toISOString().slice(11, 21)}</time>
        </div>
        {shown.impossible !== '' && (
          <p class="bad" role="alert">
            Not done: {shown.impossible}
          </p>
        )}
      </div>
      <div class="rest">
        <Worlds player={player} shown={shown} />
        {place !== undefined && <Troubles player={player} place={place} />}
        <Steps shown={shown} player={player} />
        <Text player={player} />
      </div>
    </div>
  );
}

function Time({ player, shown }: Props & { readonly shown: Shown }) {
  const [speed, setSpeed] = useState<number>(1);
  const [isRunning, isBroken] = [shown.speed > 0, shown.faults.length > 0];
  return (
    <>
      <button
        class="primary"
        disabled={isBroken}
        onClick={() => player.order({ order: 'run', speed: isRunning ? 0 : speed })}
      >
        {isRunning ? 'Pause' : 'Run'}
      </button>
      <button disabled={isBroken} onClick={() => player.order({ order: 'step' })}>
        Step
      </button>
      <select
        aria-label="Speed"
        value={speed}
        onChange={({ currentTarget: { value } }) => {
          setSpeed(Number(value));
          if (isRunning) player.order({ order: 'run', speed: Number(value) });
        }}
      >
        {speeds.map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </select>
      <button class="small" onClick={() => player.rewind()}>
        Rewind
      </button>
    </>
  );
}

/** What the judge says: all laws hold, or which one is broken. */
function Judged({ shown: { done, judged, faults } }: { readonly shown: Shown }) {
  if (faults.length > 0)
    return (
      <div class="broken" role="alert">
        <p>
          <b>A law is broken after step {judged}.</b> The world stands still. Its scenario is below.
        </p>
        <ul>
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      </div>
    );
  return (
    <p class="laws">
      <span class={`shape ${judged === 0 ? 'off' : 'ok'}`} />
      {judged === 0
        ? 'Nothing is judged yet.'
        : `${String(judged)} of ${String(done.length)} steps: all laws hold.`}
    </p>
  );
}

/** Which world, and at which node the page looks. */
function Worlds({ player, shown }: Props & { readonly shown: Shown }) {
  const named = shown.places.filter(({ node }) => node !== undefined);
  return (
    <fieldset>
      <legend>World</legend>
      <label>
        Nodes{' '}
        <select
          value={Math.max(1, named.length)}
          onChange={({ currentTarget: { value } }) => player.beginNew(Number(value), shown.seed)}
        >
          {[1, 2, 3].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      {named.length > 0 && (
        <div class="row" role="group" aria-label="The page looks at">
          {named.map(({ node, process }) => (
            <button
              key={node}
              class="chip"
              aria-pressed={node === shown.node}
              onClick={() => player.order({ order: 'look', node })}
            >
              <span class={`shape ${process === 'running' ? 'ok' : process === 'paused' ? 'warn' : 'bad'}`} />
              Node {node}
            </button>
          ))}
        </div>
      )}
    </fieldset>
  );
}

function Troubles({ player, place }: Props & { readonly place: ShownPlace }) {
  const [chosen, setChosen] = useState<Chosen>({
    service: 'Sales',
    server: 'db-1',
    apply: applyWays[0],
    write: writeWays[0],
  });
  const choices: Readonly<Record<keyof Chosen, readonly string[]>> = {
    service: place.services,
    server: place.servers,
    apply: applyWays,
    write: writeWays,
  };
  const fits = ({ isOfFleet = false }: Group): boolean => !isOfFleet || place.node !== undefined;
  return (
    <>
      {groups.filter(fits).map(({ title, field, troubles }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          {field !== undefined && (
            <select
              aria-label={labels[field]}
              value={chosen[field]}
              onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, [field]: value })}
            >
              {choices[field].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
          {troubles.map(({ label, steps, isOfOne = false }) => {
            if (isOfOne && place.node !== undefined) return null;
            const texts = steps(place, chosen);
            return (
              <button
                key={label}
                class="small"
                disabled={texts.length === 0}
                title={texts.join('\n')}
                onClick={() => player.perform(...texts)}
              >
                {label}
              </button>
            );
          })}
        </fieldset>
      ))}
    </>
  );
}
