/**
 * Of rfc6902, what finds the difference of two documents: the library applies patches with code of its own.
 */
import type { Operation } from 'rfc6902';
import { diffAny } from 'rfc6902/diff.js';
import { Pointer } from 'rfc6902/pointer.js';

export function createPatch(from: unknown, to: unknown): Operation[] {
  return diffAny(from, to, new Pointer());
}
