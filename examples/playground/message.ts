/**
 * What passes between the page, the world and the judge.
 */
import type { Step } from '../../tests/scenario/scenario.ts';
import type { Linked } from './link.ts';

/** What the page asks of the world. */
export type Order =
  /** A world begins, and takes the place of the present one. */
  | ({ readonly order: 'begin' } & Linked)
  /** These steps are done now, before those that are ahead. */
  | { readonly order: 'perform'; readonly texts: readonly string[] }
  /** The next step is done; a second passes if none is ahead. */
  | { readonly order: 'step' }
  /** So many seconds pass in one; none in a world that stands still. */
  | { readonly order: 'run'; readonly speed: number }
  /** The page looks at a node; `undefined` where no node has a name. */
  | { readonly order: 'look'; readonly node: string | undefined };

/** One place of a world, as the panel shows it. */
export interface ShownPlace {
  readonly node: string | undefined;
  readonly process: 'running' | 'paused' | 'dead';
  /** The names of what the gateway has, and the ids of its sessions. */
  readonly services: readonly string[];
  readonly servers: readonly string[];
  readonly sessions: readonly string[];
  /** How many calls the gateway holds. */
  readonly held: number;
  /** The time at the node. */
  readonly now: number;
}

/** What the world tells. */
export type News =
  | {
      readonly news: 'world';
      /** The steps that are done, from the first one on that has changed. */
      readonly from: number;
      readonly done: readonly Step[];
      readonly ahead: readonly string[];
      readonly places: readonly ShownPlace[];
      readonly speed: number;
      /** The node at which the page looks. */
      readonly node: string | undefined;
    }
  /** Why a step was not done. */
  | { readonly news: 'impossible'; readonly text: string; readonly reason: string }
  /** Where the process answers at which the page looks; no port if nobody answers. */
  | { readonly news: 'line'; readonly port: MessagePort | undefined };

/** What the judge is asked, and finds. */
export interface Charge {
  readonly seed: number;
  readonly steps: readonly string[];
}
export interface Verdict {
  readonly steps: readonly string[];
  readonly faults: readonly string[];
}
