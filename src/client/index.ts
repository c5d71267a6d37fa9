/**
 * The entry `gateway-admin-core/client`: a typed client, for tools in any process. It runs in Node, in browsers and on
 * edge runtimes.
 *
 * @packageDocumentation
 */

export { acts, type Act, type ActId, type CommandId, type Verb } from '../http/endpoint.ts';
export {
  searchText,
  sentenceOf,
  sentencesOf,
  textOf,
  type NamedPart,
  type SentencePart,
  type Telling,
  type Tense,
  type Told,
} from '../core/sentence.ts';
export { commandAt, listedBy, nameToType, subjectOfSearch, type ActPlace } from './act.ts';
export { valueOf, type Answer } from './message.ts';
export { changedParts, type ChangedPart } from './changed-part.ts';
export { closeEach, type ChosenSession, type CloseEach } from './close-each.ts';
export {
  createClient,
  type Client,
  type CommandOptions,
  type CommandOutcome,
  type Elements,
  type MethodOf,
  type ReadOptions,
  type RequestOptions,
} from './client.ts';
export type {
  DocumentExtent,
  EndpointId,
  HistorySearch,
  Ranged,
  ResultOf,
  SequenceCommand,
} from './endpoints.ts';
export type { EventOptions, EventStreamItem, ShownEvent } from './event-stream.ts';
export type { SessionSearch } from '../resources/session.ts';
export { withRetry } from './retry.ts';
export { sendTo, sendWithFetch, withEtags, type FetchOptions, type Send } from './send.ts';
export { waitFor, type WaitOptions } from './wait-for.ts';
