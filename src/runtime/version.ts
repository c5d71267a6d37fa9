/**
 * The version of the library. A constant, because not every runtime can import a JSON module. A test compares the
 * constant with package.json.
 */

/** The version in package.json. @internal */
export const libraryVersion = '0.1.0';
