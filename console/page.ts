/**
 * The page as its parts share it: what is known, where it is, what is asked, what was done.
 */
import type { Client } from 'gateway-admin-core/client';

import type { Act } from './act.ts';
import type { LogIn } from './connection.ts';
import {
  createModel,
  isOfCaller,
  isOfLogIn,
  reduce,
  type GatewayOfCaller,
  type Message,
  type Model,
  type WantedSessions,
} from './model.ts';
import { formatPlace, parsePlace, type Place } from './place.ts';
import type { Surroundings } from './reader.ts';
import { createStore, type Store } from './store.ts';
import { setClock, setZone, zones } from './time.ts';
import { watch, type Watch } from './watch.ts';

/** What an act has come to. */
export interface Outcome {
  readonly key: number;
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly text: string;
  readonly detail?: string;
  /** The act that takes it back; left out if none can. */
  readonly undo?: Act;
}

export interface Page {
  /** The address of the interface. */
  readonly address: string;
  readonly model: Store<Model>;
  readonly place: Store<Place>;
  /** The client, from the first answer of the interface on. */
  readonly client: Store<Client | undefined>;
  /** The act whose dialog is open. */
  readonly asked: Store<Act | undefined>;
  readonly outcomes: Store<readonly Outcome[]>;
  /** Whether the keys are shown. */
  readonly keys: Store<boolean>;
  /** The log-in page of the host; empty if the page asks for name and password itself. */
  readonly logInAddress: string;
  /** Whether the person has logged in on the page. */
  readonly hasOwnLogIn: Store<boolean>;
  /** Goes to another place. The back button leads back, unless only the same place is described further. */
  go(this: void, change: Partial<Place>, how?: 'push' | 'replace'): void;
  /** Opens the dialog of an act. An open dialog stays. */
  ask(this: void, act: Act): void;
  tell(this: void, outcome: Omit<Outcome, 'key'>): void;
  /** Takes away the outcome of what was taken back. */
  forget(this: void, undo: Act): void;
  /** Reads everything that an act of this page may have changed. */
  refresh(this: void): void;
  /** Says which sessions the person looks at; `undefined` for none. */
  lookAt(this: void, sessions: WantedSessions | undefined): void;
  logIn(this: void, logIn?: LogIn): Promise<void>;
  logOut(this: void): void;
}

/** As many outcomes are kept. */
const mostOutcomes = 20;

const now = (): number => performance.now();

/** What a page needs of the document that it is in. */
export interface Opening {
  /** The address of the interface: pages of one address share what they hear. */
  readonly address: string;
  readonly connect: (logIn?: LogIn) => Promise<Client>;
  readonly logInAddress: string;
}

function createPage({ address, connect, logInAddress }: Opening): Page {
  // Once a frame, however many events there are. What a person does is drawn at once.
  const model = createStore(createModel(now()), requestAnimationFrame);
  const place = createStore(parsePlace(location.hash));
  const client = createStore<Client | undefined>(undefined);
  const asked = createStore<Act | undefined>(undefined);
  const outcomes = createStore<readonly Outcome[]>([]);
  const [hasOwnLogIn, keys] = [createStore(false), createStore(false)];
  let watching: Watch | undefined;
  let wanted: WantedSessions | undefined;
  const chooseZone = (): void => setZone(zones[place.get().zone]);
  const tell = (message: Message): void => {
    if (message.type === 'gateway') setClock(message.gateway);
    chooseZone();
    model.set(reduce(model.get(), message));
  };

  place.follow(chooseZone);
  addEventListener('popstate', () => place.set(parsePlace(location.hash)));

  return {
    ...{ address, model, place, client, asked, outcomes, keys, hasOwnLogIn, logInAddress },
    go: (change, how = 'push') => {
      // Other sessions: none of them is chosen yet.
      const other = change.search === undefined ? {} : { chosen: undefined };
      const next = { ...place.get(), ...other, ...change };
      const fragment = formatPlace(next);
      const target = fragment === '' ? location.pathname + location.search : `#${fragment}`;
      if (how === 'push') history.pushState(null, '', target);
      else history.replaceState(null, '', target);
      place.set(next);
    },
    ask: (act) => {
      if (asked.get() !== undefined) return;
      asked.set(act);
      // No event tells that all changes are held.
      watching?.want('gateway');
    },
    tell: (outcome) => outcomes.set([{ ...outcome, key: now() }, ...outcomes.get()].slice(0, mostOutcomes)),
    forget: ({ given: [id] }) => outcomes.set(outcomes.get().filter(({ undo }) => undo?.given[0] !== id)),
    refresh: () => watching?.refresh(),
    lookAt: (sessions) => {
      wanted = sessions;
      watching?.want('sessions');
    },
    logIn: async (logIn) => {
      const next = await connect(logIn);
      const message = await askWho(next);
      if (message.type === 'closed') {
        tell(message);
        return;
      }
      hasOwnLogIn.set(logIn !== undefined);
      client.set(next);
      tell(message);
      watching?.stop();
      const stream = streamOf(address, message.gateway);
      watching = watch(next, stream, { tell, model: model.get, wanted: () => wanted }, surroundings);
    },
    logOut: () => {
      watching?.stop();
      // The password was kept in memory alone.
      location.reload();
    },
  };
}

/** Asks the interface whether it knows the caller. */
async function askWho(client: Client): Promise<Extract<Message, { readonly type: 'gateway' | 'closed' }>> {
  const answer = await client.interface.get({ may: true });
  if (answer.ok)
    return isOfCaller(answer.value) ? { type: 'gateway', gateway: answer.value } : { type: 'closed' };
  const { problem } = answer;
  if (!isOfLogIn(problem)) throw new Error(problem.detail);
  return { type: 'closed', problem };
}

/** The name of the stream of events that a person may see. Each life of the gateway has event ids of its own. */
function streamOf(address: string, { user, role }: GatewayOfCaller): string {
  return JSON.stringify([address, user, role]);
}

const surroundings: Surroundings = {
  now,
  isHidden: () => document.hidden,
  onChange: (listener, signal) => addEventListener('visibilitychange', listener, { signal }),
  onLeave: (listener, signal) => addEventListener('pagehide', listener, { signal }),
};

let opened: Page | undefined;

/** Opens the page. A document has one. */
export function openPage(opening: Opening): void {
  opened = createPage(opening);
}

/** The page of this document. */
export function usePage(): Page {
  if (opened === undefined) throw new Error('The page is not open');
  return opened;
}
