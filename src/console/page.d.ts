/**
 * The page: `scripts/console.js` makes this module from the sources in `console/`, with the files as text.
 */

/** A file that the page loads. The name has a hash of the text. */
export interface PageFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The document, with `{{settings}}` in place of the settings of a host. */
export declare const html: string;
/** Changes whenever the document or a file changes. */
export declare const version: string;
export declare const files: readonly PageFile[];
