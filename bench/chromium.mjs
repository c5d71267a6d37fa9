/**
 * The browser of the rows about the console.
 */
import packedChromium from '@sparticuz/chromium';
import { chromium } from 'playwright-core';

/** Starts the Chromium that npm has installed, or the one that `CHROMIUM_PATH` names. */
export async function launchChromium() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? (await packedChromium.executablePath()),
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--no-proxy-server'],
  });
}
