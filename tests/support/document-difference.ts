/**
 * The differences between a document and the configuration in use, as an interface on a store tells them.
 */
import {
  createMemoryStore,
  DifferingDocumentError,
  openAdmin,
  type AdminOptions,
  type Snapshot,
} from 'gateway-admin-core';

const gateway: AdminOptions['gateway'] = {
  apply: () => Promise.resolve(),
  inspect: () => Promise.resolve('in-place'),
};

/** What `openAdmin` says of a document if its store keeps another snapshot. */
export async function differencesOf(
  kept: Snapshot,
  given: Snapshot,
): Promise<DifferingDocumentError['differences']> {
  const store = createMemoryStore();
  const errors: unknown[] = [];
  for (const snapshot of [kept, given]) {
    const onError = (error: unknown): void => void errors.push(error);
    const admin = await openAdmin({ snapshot, store, gateway, observe: { onError } });
    await admin.close();
  }
  return errors.flatMap((error) => (error instanceof DifferingDocumentError ? error.differences : []));
}
