/**
 * Loading: the calls to a store before the start of an interface.
 */
import type { ConfigurationStore, StoredHistory } from '../../ports/port.ts';
import { beforeDeadline, late } from '../host/waiting.ts';
import type { StoreCall } from '../instrumentation/instruments.ts';
import type { CompleteOptions } from '../ground.ts';
import { measured } from './record-queue.ts';

/** Loads the content of the store. `onError` gets what the store has repaired. @internal */
export async function loadInTime(
  store: ConfigurationStore,
  options: CompleteOptions,
): Promise<Omit<StoredHistory, 'repaired'>> {
  const { repaired, ...stored } = await callInTime('load', () => store.load(), options);
  if (repaired !== undefined) options.onError(new Error(repaired));
  return stored;
}

/**
 * Calls the store before the start. `onError` gets a timeout too, so that the timeout is logged like other store
 * errors.
 *
 * @internal
 */
export async function callInTime<T>(
  name: StoreCall,
  call: () => Promise<T>,
  options: CompleteOptions,
): Promise<T> {
  const { clock, limits, onError } = options;
  const { storeDeadlineMs } = limits;
  const answer = await beforeDeadline(clock, storeDeadlineMs, measured(options, name, call));
  if (answer !== late) return answer;
  const error = new Error(
    `The configuration store did not answer ${name}() within ${String(storeDeadlineMs)} ms. Check that the disk or the ` +
      'database works, and start again. For a very large store, raise the limit storeDeadlineMs.',
  );
  onError(error);
  throw error;
}
