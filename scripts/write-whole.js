import { Buffer } from 'node:buffer';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file, unless it is so already. Who reads the file meanwhile gets a whole one.
 *
 * @param {string} path
 * @param {string | Uint8Array} contents
 */
export function writeWhole(path, contents) {
  if (isWritten(path, contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  const beside = `${path}.${String(process.pid)}`;
  writeFileSync(beside, contents);
  renameSync(beside, path);
}

function isWritten(path, contents) {
  try {
    return readFileSync(path).equals(Buffer.from(contents));
  } catch {
    return false;
  }
}
