/**
 * What the first part of an entity tag would be, by the routes alone: the law of contents says what it stands for.
 */
import type { Snapshot } from 'gateway-admin-core';

import { boundRoutes } from './internal.ts';

const reads = boundRoutes.flatMap((route) =>
  (route.kind === 'item' || route.kind === 'list') && route.validator !== undefined ? [route] : [],
);

/** The content of what a link names; `undefined` if it is not there, or has no tag. */
export function contentAt(snapshot: Snapshot, link: string): string | undefined {
  const segments = link.split('/');
  for (const route of reads) {
    const pattern = route.path.split('/');
    if (pattern.length !== segments.length) continue;
    if (!pattern.every((part, at) => part.startsWith(':') || part === segments[at])) continue;
    const parameters = pattern.flatMap((part, at): [string, string][] =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(segments[at] ?? '')]] : [],
    );
    const found = route.find(snapshot, Object.fromEntries(parameters));
    return found.ok ? route.validator?.(snapshot, found.value).content : undefined;
  }
  return undefined;
}
