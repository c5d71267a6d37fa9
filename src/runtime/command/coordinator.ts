/**
 * The coordinator: the seam for several interfaces that change one configuration together. An interface that runs
 * alone has no coordinator. `src/fleet/` has the only one.
 */
import type { AdminRequest } from '../../http/message.ts';
import type { Surroundings } from '../../resources/shared/rendering.ts';
import type { Execution, Refusal } from './execution.ts';
import type { Headers } from '../handler/respond.ts';
import type { Basis } from '../journal/basis.ts';
import type { Fold } from '../journal/log.ts';

/** The result of a command after which the state is as the caller has asked. @internal */
export type Succeeded = Extract<Execution, { readonly outcome: 'accepted' | 'unchanged' }>;

/** What an interface leaves to the coordinator. @internal */
export interface Coordinator {
  /** Begins the id of each command. */
  readonly prefix: string;
  /** What the endpoints of the coordinator see. */
  readonly surroundings: Partial<Surroundings>;
  /** The headers of each response. */
  readonly headers: Headers;

  /** The refusal of every command at this moment; `undefined` if commands are possible. */
  refuseAll(): Refusal | undefined;
  /**
   * Says whether others are in the way of a command.
   *
   * @param resources - the links of the resources that the command changes
   * @param restsOn - the links of what the decision rests on besides
   */
  refusalFor(resources: readonly string[], restsOn: readonly string[]): Refusal | undefined;
  /** What a decision of this turn of the event loop rests on, for {@link Journal.keep}. */
  basisOf(restsOn: readonly string[]): Basis;
  /**
   * Takes in what others have changed up to now.
   *
   * @returns `news` if there was anything, or the refusal of a command if the store does not answer
   */
  readOn(): Promise<Refusal | 'news' | undefined>;
  /**
   * Follows, and waits until nothing is in the way of a decision.
   *
   * @param restsOn - the links of what the decision rests on
   * @returns the refusal of a command if that does not happen in time
   */
  catchUp(this: void, restsOn: readonly string[]): Promise<Refusal | undefined>;

  /** Folds events that the log does not have. */
  readonly fold: Fold;
  /** The headers of the answer to a command. The request can ask to wait for others. */
  headersAfter(request: AdminRequest, execution: Succeeded): Promise<Headers>;
}
