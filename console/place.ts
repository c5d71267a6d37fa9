/**
 * The place: what the page shows, as the fragment of its address. A link leads another person to the same place, and
 * the back button leads back.
 */
import type { HistorySearch, SessionSearch } from 'gateway-admin-core/client';

export const views = ['gateway', 'sessions', 'history'] as const;
export type View = (typeof views)[number];

/** Whose time zone times are written in. */
export const zoneOwners = ['browser', 'gateway'] as const;

/**
 * What is chosen: resources by link, or sessions by id, each with its entity tag. The tag says that the session is
 * still the one that was chosen.
 */
export type Chosen = ReadonlyMap<number | string, string>;

/** The lists that can be sorted, filtered and collapsed. */
const sections = ['services', 'servers', 'monitors', 'filters', 'fleet', 'users'] as const;

/** A word for some of the lists, by list. */
type BySection = Readonly<Partial<Record<(typeof sections)[number], string>>>;

/** The criteria of the history. */
export const pastCriteria = ['actor', 'type', 'resource', 'since', 'before'] as const;
export type Past = Pick<HistorySearch, (typeof pastCriteria)[number]>;

export interface Place {
  readonly view: View;
  /** What a row must contain to be shown; empty for all. */
  readonly find: string;
  /** Link of the resource in the drawer, such as `/services/Sales`; empty if the drawer is closed. */
  readonly open: string;
  readonly zone: (typeof zoneOwners)[number];
  /** Which sessions are shown. */
  readonly search: SessionSearch;
  /** Which entries of the history are shown. */
  readonly past: Past;
  /** By which column each list is sorted, with `-` before it for the other way; left out for failed first. */
  readonly sort: BySection;
  /** The only state that is shown of each list; left out for all. */
  readonly only: BySection;
  /** What is collapsed: each list with an empty word. */
  readonly closed: BySection;
  /** What is chosen in a list. Left out if nothing is. */
  readonly chosen?: Chosen | undefined;
}

export const home: Place = {
  view: 'gateway',
  find: '',
  open: '',
  zone: 'browser',
  search: {},
  past: {},
  ...{ sort: {}, only: {}, closed: {} },
};

const words = ['service', 'server', 'user', 'address'] as const;
const numbers = ['idle_over', 'older_than'] as const;
/** Whether a criterion is a number of seconds. */
export function isNumber(criterion: string): boolean {
  return numbers.some((each) => each === criterion);
}

export const criteria = [...words, ...numbers] as const;

/** The place that a fragment names. What a fragment does not name, or names wrongly, is as at home. */
export function parsePlace(fragment: string): Place {
  const [name = '', query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  const link = given.get('open') ?? '';
  const open = link.startsWith('/') ? link : '';
  const chosen = parseChosen(given.get('chosen') ?? '');
  return {
    view: views.find((each) => each === name) ?? home.view,
    find: given.get('find') ?? '',
    open,
    zone: given.get('zone') === 'gateway' ? 'gateway' : home.zone,
    search: Object.fromEntries(
      criteria.flatMap((each) => {
        const value = given.get(each) ?? '';
        if (value === '' || (isNumber(each) && !/^\d{1,9}(?:\.\d{1,6})?$/.test(value))) return [];
        return [[each, isNumber(each) ? Number(value) : value]];
      }),
    ),
    past: Object.fromEntries(
      pastCriteria.flatMap((each) => {
        const value = given.get(each) ?? '';
        return value === '' ? [] : [[each, value]];
      }),
    ),
    sort: parseSections(given.get('sort')),
    only: parseSections(given.get('only')),
    closed: parseSections(given.get('closed')),
    ...(chosen.size === 0 ? {} : { chosen }),
  };
}

/** Words such as `services:-sessions,servers:name`. */
function parseSections(text: string | null): BySection {
  const given = new URLSearchParams((text ?? '').replace(/:/g, '=').replace(/,/g, '&'));
  return Object.fromEntries(
    sections.flatMap((each) => {
      const word = given.get(each);
      return word !== null && /^[\w-]*$/.test(word) ? [[each, word]] : [];
    }),
  );
}

function formatSections(words: BySection): string {
  return sections
    .flatMap((each) => (words[each] === undefined ? [] : [`${each}:${words[each]}`.replace(/:$/, '')]))
    .join(',');
}

/** What every fragment has besides the place. */
let kept: readonly [string, string][] = [];

/** Keeps something in every fragment, for a program around the page. */
export function keepInFragments(entries: typeof kept): void {
  kept = entries;
}

/** The fragment of a place; empty at home. */
export function formatPlace({ view, find, open, zone, search, past, chosen, ...sections }: Place): string {
  const named = {
    find,
    open,
    zone: zone === home.zone ? '' : zone,
    ...search,
    ...past,
    sort: formatSections(sections.sort),
    only: formatSections(sections.only),
    closed: formatSections(sections.closed),
    chosen: formatChosen(chosen),
  };
  const given = Object.entries(named).flatMap(([name, value]) =>
    value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  // A link is easier to read with its slashes, colons and commas.
  const query = String(new URLSearchParams([...given, ...kept])).replace(
    /%(?:2F|3A|2C)/g,
    decodeURIComponent,
  );
  return `${view === home.view && query !== '' ? '' : view}${query === '' ? '' : `?${query}`}`.replace(
    /^gateway$/,
    '',
  );
}

/**
 * Chosen sessions such as `9:"9.1473419557000",12:"12.1482552428000"`, in a fragment without the quotes, or links of
 * chosen resources.
 */
function parseChosen(text: string): Chosen {
  return new Map(
    text.split(',').flatMap((each): readonly (readonly [number | string, string])[] => {
      if (each.startsWith('/')) return [[each.replaceAll('%2C', ','), '']];
      const [, id, tag] = /^(\d{1,15}):([^"]+)$/.exec(each) ?? [];
      return id === undefined || tag === undefined ? [] : [[Number(id), `"${tag}"`]];
    }),
  );
}

function formatChosen(chosen: Chosen = new Map()): string {
  return [...chosen]
    .map(([key, tag]) =>
      typeof key === 'string' ? key.replaceAll(',', '%2C') : `${String(key)}:${tag.slice(1, -1)}`,
    )
    .join(',');
}
