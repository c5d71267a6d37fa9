/**
 * The project's own files, for the tests that read them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of package.json, with a slash at its end. */
export const root = join(import.meta.dirname, '../../');

/** Where the project's own text is. */
const folders = ['.ci', 'bench', 'console', 'docs', 'etc', 'examples', 'scripts', 'src', 'tests'];

/** The text of a file, by its path from the root. */
export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Whether there is a file, by its path from the root. */
export function exists(path: string): boolean {
  return existsSync(join(root, path));
}

/** Folders of files that nobody wrote: a build, and installed packages. */
const made = ['examples/dist/', 'bench/peers/node_modules/'];

/** Paths, from the root and with slashes, of all files below a folder whose name ends so; sorted. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  if (!exists(folder)) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
    .filter((path) => !made.some((place) => path.startsWith(place)))
    .sort();
}

/** Paths of all files that people wrote, and of the package lock. */
export function textFiles(): readonly string[] {
  const atTop = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  return [...atTop.map((entry) => entry.name), ...folders.flatMap((folder) => filesBelow(folder, ''))];
}
