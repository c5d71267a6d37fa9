/**
 * JSON and its RFCs: values, pointers, patches, differences. Knows nothing of gateways.
 *
 * @packageDocumentation
 */

export { sameJson, type Json, type JsonLimits } from './value.ts';
export { parseJson } from './parse.ts';
export { formatPointer, parsePointer } from './pointer.ts';
export { applyPatch, type Operation, type PatchRules } from './patch.ts';
export { diff, type DiffOptions } from './diff.ts';
