/**
 * The functions to which the build translates JSX. A call of `h` has the children as arguments, and is shorter than a
 * call of the automatic runtime.
 */
export { Fragment, h } from 'preact';
