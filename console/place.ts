/**
 * The place: what the page shows, as the fragment of its address. A link leads another person to the same place, and the back
 * button leads back.
 */
import type { SessionSearch } from 'gateway-admin-core/client';

export const views = ['gateway', 'sessions', 'history'] as const;
export type View = (typeof views)[number];

export const tabs = ['state', 'settings', 'history'] as const;
type Tab = (typeof tabs)[number];

export interface Place {
  readonly view: View;
  /** What a row must contain to be shown; empty for all. */
  readonly find: string;
  /** Link of the resource in the drawer, such as `/services/Sales`; empty if the drawer is closed. */
  readonly open: string;
  readonly tab: Tab;
  /** Which sessions are shown. */
  readonly search: SessionSearch;
}

export const home: Place = { view: 'gateway', find: '', open: '', tab: 'state', search: {} };

const words = ['service', 'server', 'user', 'address'] as const;
const numbers = ['idle_over', 'older_than'] as const;
export const criteria = [...words, ...numbers] as const;

/** The place that a fragment names. What a fragment does not name, or names wrongly, is as at home. */
export function parsePlace(fragment: string): Place {
  const [name = '', query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  const link = given.get('open') ?? '';
  const open = link.startsWith('/') ? link : '';
  return {
    view: views.find((each) => each === name) ?? home.view,
    find: given.get('find') ?? '',
    open,
    tab: (open === '' ? undefined : tabs.find((each) => each === given.get('tab'))) ?? home.tab,
    search: Object.fromEntries(
      criteria.flatMap((each) => {
        const value = given.get(each) ?? '';
        const isNumber = numbers.some((number) => number === each);
        if (value === '' || (isNumber && !/^\d{1,9}(?:\.\d{1,6})?$/.test(value))) return [];
        return [[each, isNumber ? Number(value) : value]];
      }),
    ),
  };
}

/** The fragment of a place; empty at home. */
export function formatPlace({ view, find, open, tab, search }: Place): string {
  const named = { find, open, tab: open === '' || tab === home.tab ? '' : tab, ...search };
  const given = Object.entries(named).flatMap(([name, value]) =>
    value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  // A link is easier to read with its slashes.
  const query = String(new URLSearchParams(given)).replaceAll('%2F', '/');
  return `${view === home.view && query !== '' ? '' : view}${query === '' ? '' : `?${query}`}`.replace(
    /^gateway$/,
    '',
  );
}
