/**
 * JSON and its RFCs: parsing, JSON Pointer, JSON Patch and differences. This entry knows nothing of gateways.
 *
 * @packageDocumentation
 */

export { sameJson, type Json, type JsonLimits } from './value.ts';
export { parseJson, type ParseLimits } from './parse.ts';
export { formatPointer, parsePointer } from './pointer.ts';
export { applyPatch, type Operation, type PatchRules } from './patch.ts';
export { diff } from './diff.ts';
