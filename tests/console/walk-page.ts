/**
 * What a walker sees of the page, and what has been pressed. The functions of this file run in the page: they use
 * nothing outside of themselves.
 */

/** Something that a person can press, choose or write into. */
export interface Control {
  /** Its number in the attribute `data-walk`. */
  readonly at: number;
  readonly tag: string;
  readonly type: string;
  /** What names it to a person. */
  readonly name: string;
  /** The part of the page that has it. */
  readonly area: string;
  /** Whether it says that it does nothing now. */
  readonly isMuted: boolean;
  /** The link of the resource that it leads to; empty if it leads to none. */
  readonly link: string;
}

/** What the page shows. */
export interface Seen {
  /** The buttons that were pressed since the last look and do what a plan has shown, as they were named then. */
  readonly presses: readonly string[];
  /** The outcomes that have come since the last look, the oldest first. */
  readonly outcomes: readonly { readonly kind: string; readonly text: string }[];
  readonly controls: readonly Control[];
  readonly dialogs: number;
  /** The open dialog: its phase, its title, and the label of the name that a person must type. */
  readonly dialog?: { readonly phase: string; readonly title: string; readonly label: string };
  readonly fragment: string;
  readonly place: ShownPlace;
  readonly isBlank: boolean;
  readonly canGoBack: boolean;
  readonly canGoForward: boolean;
}

/** The place as it is drawn. */
interface ShownPlace {
  readonly view: string;
  readonly find: string;
  readonly isOpen: boolean;
}

/** A row of a table: the text of each cell. */
type Cells = readonly string[];

/** The figures of the page. */
export interface Figures {
  /** The rows of each section, by its heading. */
  readonly tables: Readonly<Record<string, readonly Cells[]>>;
  readonly alerts: readonly string[];
  /** The fields in the drawer by name, or why there are none. */
  readonly drawer?: { readonly fields: Readonly<Record<string, string>>; readonly fault: string };
  /** What the drawer of a server says of its connections. */
  readonly connections: string;
  /** How many sessions the list says that there are, and its rows. */
  readonly sessions?: { readonly total: string; readonly rows: readonly Cells[] };
}

/** What the page keeps for the walker. */
interface Watched {
  readonly presses: string[];
  readonly told: WeakSet<Element>;
}

type WatchedWindow = typeof globalThis & { walk: Watched };

/** Begins to watch. Runs before the scripts of the page. */
export function watchPresses(): void {
  const watched: Watched = { presses: [], told: new WeakSet() };
  (globalThis as WatchedWindow).walk = watched;
  // In the first phase, before the page itself learns of the press.
  addEventListener(
    'click',
    ({ target }) => {
      const button = target instanceof Element ? target.closest('dialog button[type=submit]') : null;
      if (button !== null) watched.presses.push(button.textContent);
    },
    true,
  );
}

/** What the page shows now. */
export function look(): Seen {
  const { presses, told } = (globalThis as WatchedWindow).walk;
  const textOf = (selector: string): string => document.querySelector(selector)?.textContent ?? '';
  const dialog = document.querySelector('dialog');
  for (const old of document.querySelectorAll('[data-walk]')) old.removeAttribute('data-walk');
  const areas = [
    'dialog',
    '.acts',
    '.outcomes',
    'nav',
    'header',
    '.drawer',
    '.live',
    '.criteria',
    '.bar',
    '.chosen',
    '.sessions',
  ];
  const all = (dialog ?? document).querySelectorAll<HTMLElement>(
    'a[href], button:not(:disabled), summary, input:not(:disabled), select:not(:disabled), textarea:not(:disabled)',
  );
  const controls = [...all]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width > 0)
    .map((each, at) => {
      each.setAttribute('data-walk', String(at));
      const label =
        each.closest('label') ??
        (each.id === '' ? null : document.querySelector(`[for="${CSS.escape(each.id)}"]`));
      return {
        at,
        tag: each.localName,
        type: each.getAttribute('type') ?? '',
        name: ([each.getAttribute('aria-label'), each.textContent, label?.textContent].find(Boolean) ?? '')
          .replace(/\s+/g, ' ')
          .trim(),
        area: areas.find((area) => each.closest(area) !== null) ?? 'view',
        isMuted: each.getAttribute('aria-disabled') === 'true',
        link: each.dataset['link'] ?? '',
      };
    });
  const fresh = [...document.querySelectorAll('.outcome')].filter((each) => !told.has(each)).toReversed();
  for (const each of fresh) told.add(each);
  return {
    presses: presses.splice(0),
    outcomes: fresh.map((each) => ({
      kind: each.classList.item(1) ?? '',
      text: each.querySelector('span')?.textContent ?? '',
    })),
    controls,
    dialogs: document.querySelectorAll('dialog').length,
    ...(dialog === null
      ? {}
      : {
          dialog: {
            phase: dialog.dataset['phase'] ?? '',
            title: textOf('#dialog-title'),
            label: textOf('dialog form label'),
          },
        }),
    fragment: location.hash,
    place: {
      view: textOf('nav [aria-current=page]'),
      find: document.querySelector<HTMLInputElement>('#find')?.value ?? '',
      isOpen: document.querySelector('.drawer') !== null,
    },
    isBlank: document.querySelector('.page > header h1') === null || document.querySelector('.view') === null,
    canGoBack: navigation.canGoBack,
    canGoForward: navigation.canGoForward,
  };
}

/** The figures of the page now. */
export function readFigures(): Figures {
  const textsOf = (selector: string, within: ParentNode = document): string[] =>
    Array.from(within.querySelectorAll(selector), (each) => each.textContent.trim());
  const tables: Record<string, Cells[]> = {};
  for (const section of document.querySelectorAll('.view-gateway > section'))
    tables[section.getAttribute('aria-label') ?? ''] = Array.from(
      section.querySelectorAll('tbody tr'),
      (row) => textsOf('th, td:not(.choose)', row),
    );
  const drawer = document.querySelector('.drawer');
  const fields: Record<string, string> = {};
  for (const row of drawer?.querySelectorAll('dl.fields > div') ?? []) {
    const value = row.querySelector('dd')?.cloneNode(true) as Element;
    for (const each of value.querySelectorAll('.small, section')) each.remove();
    fields[row.querySelector('dt')?.firstChild?.textContent ?? ''] = value.textContent.trim();
  }
  const list = document.querySelector('.sessions');
  return {
    tables,
    alerts: Array.from(document.querySelectorAll('.alerts > li'), (card) =>
      textsOf('.title, .why', card).join(': '),
    ),
    ...(drawer === null ? {} : { drawer: { fields, fault: textsOf(':scope > .bad', drawer).join() } }),
    connections: textsOf('.connections', drawer ?? document.createElement('p')).join(),
    ...(list === null
      ? {}
      : {
          sessions: {
            total: textsOf('.bar')[0] ?? '',
            rows: Array.from(list.querySelectorAll('[data-row]'), (row) => textsOf('[role=cell]', row)),
          },
        }),
  };
}

/** What a person would tell another one about the place, whatever the figures are. */
export function describePlace(): string {
  const texts = (selector: string): string[] =>
    Array.from(document.querySelectorAll(selector), (each) => each.textContent.trim());
  return JSON.stringify([
    texts('nav [aria-current=page]'),
    document.querySelector<HTMLInputElement>('#find')?.value,
    texts('#drawer-title'),
    texts('.bar button'),
    texts('.chosen b'),
    Array.from(
      document.querySelectorAll('.criteria input'),
      (each) => each.getAttribute('value') ?? (each as HTMLInputElement).defaultValue,
    ),
  ]);
}
