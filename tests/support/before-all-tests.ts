/**
 * Everything that happens once, before the first test file.
 */
import { buildPage } from './built-package.ts';
import { bundlePackage } from './bundled-package.ts';
import openDoor from './shared-postgres.ts';

export default async function beforeAllTests(): Promise<void> {
  buildPage();
  await bundlePackage();
  await openDoor();
}
