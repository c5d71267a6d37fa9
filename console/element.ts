/**
 * The functions that the build writes for elements: with its children as arguments, a call is shorter than one of the
 * automatic runtime.
 */
export { Fragment, h } from 'preact';
