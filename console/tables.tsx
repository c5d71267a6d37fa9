/**
 * The table of everything: a section for each kind of resource.
 */
import { linkTo } from 'gateway-admin-core';
import { useMemo } from 'preact/hooks';

import { SmallButton } from './act-button.tsx';
import { ChooseBox, usePressRow } from './choosing.tsx';
import { sections, type Column, type Columns, type SectionName, type Shown } from './column.tsx';
import type { Named } from './act.ts';
import { askToChange, askToCreate } from './creation.ts';
import { rowFits } from './find.ts';
import { healthOf, isWrong, type Health } from './health.ts';
import { rowsOf } from './model.ts';
import { noticeMoves } from './moving.ts';
import {
  firstSort,
  isShown,
  nextSort,
  ordered,
  places,
  wrong,
  type ColumnPlace,
  type Ranked,
} from './order.ts';
import { usePage } from './page.ts';
import type { Chosen, Place } from './place.ts';
import { Age, Shape } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';

/** Lists to which something can be added. */
const growing: readonly SectionName[] = ['services', 'servers', 'monitors', 'filters', 'users'];

/** Lists of which rows can be chosen. */
const choosable: readonly SectionName[] = ['services', 'servers', 'monitors', 'filters'];

export function Tables() {
  const page = usePage();
  const model = useStore(page.model, 'lists', 'trails', 'gateway');
  const place = useStore(page.place);
  return (
    <>
      {(Object.keys(sections) as SectionName[]).map((name) => (
        <Section key={name} name={name} model={model} place={place} />
      ))}
    </>
  );
}

interface SectionProps {
  readonly name: SectionName;
  readonly model: Shown;
  readonly place: Place;
}

function Section({ name, model, place }: SectionProps) {
  const page = usePage();
  const reading = model.lists[name];
  const isGrowing = growing.includes(name);
  // A list to which nothing can be added says nothing while it is empty.
  if (reading === undefined || (reading.total === 0 && !isGrowing)) return null;
  const { only, closed } = place;
  const sort = place.sort[name] ?? firstSort;
  const found = foundRows(name, model, place);
  const shown = shownRows(name, found, place);
  const isOpen = closed[name] === undefined;
  return (
    <section aria-label={text.lists[name]}>
      <div class="head">
        <h2>
          <button
            class="fold"
            aria-expanded={isOpen}
            onClick={() => page.go({ closed: { ...closed, [name]: isOpen ? '' : undefined } }, 'replace')}
          >
            {text.lists[name]}{' '}
            <span class="soft">
              {shown.length === reading.total
                ? reading.total.toLocaleString('en')
                : text.find.shown(shown.length, reading.total)}
              <span class="when-stale">
                <Age at={reading.at} />
              </span>
            </span>
          </button>
        </h2>
        <Chips name={name} found={found} only={only[name]} show={(word) => show(word)} />
        {name === 'services' && rowsOf(model, 'fleet').length > 0 && <p class="soft">{text.ofThisNode}</p>}
        {choosable.includes(name) && shown.length > 1 && <ChangingAll name={name} rows={shown} />}
        {isGrowing && <Adding name={name} model={model} />}
      </div>
      {isOpen && shown.length > 0 && (
        <Rows name={name} rows={shown} model={model} sort={sort} chosen={place.chosen} />
      )}
      {isOpen && shown.length === 0 && <p class="none">{noneText()}</p>}
      {isOpen && !!only[name] && (
        <p class="more">
          {text.chips.shown(shown.length, reading.total, text.lists[name].toLowerCase())}{' '}
          <SmallButton title={text.chips.all} press={() => show(undefined)} />
        </p>
      )}
    </section>
  );

  function show(word: string | undefined): void {
    page.go({ only: { ...only, [name]: word } });
  }

  function noneText(): string {
    const { elements, total } = reading ?? { elements: [], total: 0 };
    if (total === 0) return text.empty[name] ?? text.find.none;
    return elements.length < total ? text.find.noneOf(elements.length, total) : text.find.none;
  }
}

function columnsOf(name: SectionName): Columns {
  return sections[name] as Columns;
}

/** The rows of a list that a person has found. */
export function foundRows(name: SectionName, model: Shown, { find, sort }: Place): readonly Ranked<object>[] {
  return rankedRows(name, model, sort[name] ?? firstSort).filter(({ row }) => rowFits(find, row));
}

/** Those of the found rows that are shown, in their order. */
export function shownRows(
  name: SectionName,
  found: readonly Ranked<object>[],
  { only, sort }: Place,
): readonly Ranked<object>[] {
  const shown = found.filter(({ health }) => isShown(health, only[name]));
  return ordered(shown, sort[name]?.startsWith('-') === true);
}

/** The rows of a list, each with how it is and with what it is sorted by. */
function rankedRows(name: SectionName, model: Shown, sort: string): readonly Ranked<object>[] {
  const by = columnsOf(name)[sort.replace('-', '') as keyof Columns]?.by;
  return rowsOf(model, name).map((row) => {
    const health = healthOf(model, name, row);
    return { row, name: 'node' in row ? row.node : row.name, health, key: by?.(row, model, health) ?? '' };
  });
}

const states = Object.keys(text.state);

interface ChipsProps {
  readonly name: SectionName;
  readonly found: readonly Ranked<object>[];
  readonly only: string | undefined;
  readonly show: (word: string | undefined) => void;
}

/** The number of rows in each state. Each is a filter; the first shows what is wrong. */
function Chips({ name, found, only, show }: ChipsProps) {
  const healths = found.map(({ health }) => health).filter(({ tone }) => tone !== 'none');
  if (healths.length === 0) return null;
  const counts = new Map<string, Health & { count: number }>();
  for (const health of healths) {
    const { count = 0 } = counts.get(health.state) ?? {};
    counts.set(health.state, { ...health, count: count + 1 });
  }
  const wrongs = healths.filter(isWrong).length;
  const chip = (word: string, label: string, shape?: Health['tone']) => (
    <button
      key={word}
      class="chip"
      aria-pressed={only === word}
      onClick={() => show(only === word ? undefined : word)}
    >
      {shape !== undefined && <Shape tone={shape} />}
      {label}
    </button>
  );
  return (
    <div class="chips" role="group" aria-label={text.chips.of(text.lists[name])}>
      {(wrongs > 0 || only === wrong) && chip(wrong, text.chips.wrong(wrongs))}
      {[...counts.values()]
        .sort((one, other) => states.indexOf(one.state) - states.indexOf(other.state))
        .map(({ state, tone, count }) => chip(state, text.chips.state(count, text.state[state]), tone))}
    </div>
  );
}

interface RowsProps {
  readonly name: SectionName;
  readonly rows: readonly Ranked<object>[];
  readonly model: Shown;
  readonly sort: string;
  readonly chosen: Chosen | undefined;
}

function Rows({ name, rows, model, sort, chosen }: RowsProps) {
  const columns = columnsOf(name);
  const press = usePressRow(rows.map((row) => linkTo(name, row.name)));
  const shown = places.map((place) => {
    const column = columns[place];
    return [place, column?.isThere?.(model) === false ? undefined : column] as const;
  });
  return (
    <table aria-label={text.lists[name]}>
      <thead>
        <tr>
          <td class="choose" />
          {shown.map(([place, column]) =>
            column === undefined ? (
              <td key={place} class={place} />
            ) : (
              <Head key={place} name={name} place={place} column={column} sort={sort} />
            ),
          )}
        </tr>
      </thead>
      <tbody ref={noticeMoves}>
        {rows.map((each) => (
          <TableRow
            key={each.name}
            ranked={each}
            name={name}
            columns={shown}
            model={model}
            isChosen={chosen?.has(linkTo(name, each.name)) === true}
            press={press}
          />
        ))}
      </tbody>
    </table>
  );
}

interface TableRowProps {
  readonly ranked: Ranked<object>;
  readonly name: SectionName;
  readonly columns: readonly (readonly [ColumnPlace, Column | undefined])[];
  readonly model: Shown;
  readonly isChosen: boolean;
  readonly press: ReturnType<typeof usePressRow>;
}

/** A row. It is drawn anew if it has changed, or what it stands on: each list but its own. */
function TableRow({ ranked, name, columns, model, isChosen, press }: TableRowProps) {
  const { row, health, name: own } = ranked;
  const { lists, trails, gateway } = model;
  const others = Object.entries(lists).map(([list, reading]) => (list === name ? reading.at : reading));
  return useMemo(
    () => (
      <tr class={`${health.tone} ${isChosen ? 'is-chosen' : ''}`} data-row>
        <td class="choose">
          {choosable.includes(name) && (
            <ChooseBox of={own} isChosen={isChosen} press={(...how) => press(linkTo(name, own), ...how)} />
          )}
        </td>
        {columns.map(([place, column]) =>
          place === 'name' ? (
            <th key={place} scope="row" class={place}>
              <div>
                {health.tone !== 'none' && <Shape tone={health.tone} />}
                {column?.cell(row, model, health)}
              </div>
            </th>
          ) : (
            <td key={place} class={place}>
              {column?.cell(row, model, health)}
            </td>
          ),
        )}
      </tr>
    ),
    [row, name, isChosen, trails, gateway, ...columns.map(([, column]) => column), ...others],
  );
}

interface HeadProps {
  readonly name: SectionName;
  readonly place: string;
  readonly column: Column;
  readonly sort: string;
}

/** The head of a column. A press sorts the list by the column. */
function Head({ name, place, column: { title, by }, sort }: HeadProps) {
  const page = usePage();
  const isOwn = by !== undefined && sort.replace('-', '') === place;
  // Numbers begin with the largest one.
  const isFalling = (place === 'name' || place === 'address') === sort.startsWith('-');
  const next = nextSort(place, sort);
  return (
    <th
      scope="col"
      class={place}
      aria-label={title}
      aria-sort={isOwn ? (isFalling ? 'descending' : 'ascending') : undefined}
    >
      {by === undefined ? (
        title
      ) : (
        <button
          class="fold"
          aria-label={text.sortBy(title)}
          onClick={() => page.go({ sort: { ...page.place.get().sort, [name]: next } })}
        >
          {title}
        </button>
      )}
    </th>
  );
}

/** As many resources are changed at once: a sequence takes no more commands. */
export const mostAtOnce = 100;

/** The button that changes settings of all rows that are shown. */
function ChangingAll({ name, rows }: Pick<RowsProps, 'name' | 'rows'>) {
  const page = usePage();
  const reason = rows.length > mostAtOnce ? text.tooMany(mostAtOnce) : undefined;
  const all = rows.map(({ row }) => row as Named);
  return (
    <SmallButton title={text.changeAll} reason={reason} press={() => void askToChange(page, name, all)} />
  );
}

/** The button that adds to a list, or why that is not possible. */
function Adding({ name, model }: Pick<SectionProps, 'name' | 'model'>) {
  const page = usePage();
  const may = model.gateway?.may.find(({ id }) => id === `${name}.create`);
  const reason = may?.allowed === false ? may.detail : undefined;
  return <SmallButton title={text.add(name)} reason={reason} press={() => void askToCreate(page, name)} />;
}
