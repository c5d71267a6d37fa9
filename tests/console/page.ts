/**
 * The page of the console as the build makes it, with the types that the sources declare of it. No entry of the package
 * has the files by themselves.
 */
export { files, html } from '../../src/console/page.js';
