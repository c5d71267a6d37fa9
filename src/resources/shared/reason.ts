/**
 * Reasons: why something is as the host sees it, in the words of the host.
 */
import { cutToBytes } from '../../core/utf8.ts';
import * as shape from '../../core/shape.ts';

/** Longest reason, in bytes of UTF-8. */
const longestReason = 1024;

/** The row of a field with a reason. @internal */
export const reasonField = { shape: shape.text(longestReason), optional: true, kept: false } as const;

/** The row of a field that says since when something is as the host sees it. @internal */
export const sinceField = { shape: shape.instant, time: 'iso8601', optional: true, kept: false } as const;

/** The reason of the host as one line of text. What the host sees must not get lost because of its reason. @internal */
export function readableReason(reason: string): string {
  return cutToBytes(reason, longestReason)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ');
}
