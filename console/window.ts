/**
 * The window of a long list: which rows are drawn, and where.
 */

/** No browser draws an element that is much higher: the list is scaled beyond. In pixels. */
export const highest = 15_000_000;

/** Rows beyond both edges that are drawn as well. */
const margin = 10;

export interface ListWindow {
  /** Position of the first drawn row. */
  readonly first: number;
  /** Position after the last drawn row. */
  readonly end: number;
  /** Height of the whole list, in pixels. */
  readonly height: number;
  /** Distance from the top of the list to the first drawn row, in pixels. */
  readonly top: number;
}

/**
 * The window of a list.
 *
 * @param total - number of rows
 * @param rowHeight - height of each row, in pixels
 * @param scrolled - distance from the top of the list to the top of what is visible, in pixels
 * @param visible - height of what is visible, in pixels
 */
export function windowOf(total: number, rowHeight: number, scrolled: number, visible: number): ListWindow {
  const whole = total * rowHeight;
  const height = Math.min(whole, highest);
  const most = Math.max(0, height - visible);
  const at = Math.min(Math.max(0, scrolled), most);
  // The same share of the rows is above as of the height. Unscaled, this is the distance itself.
  const above = most === 0 ? 0 : (at / most) * Math.max(0, whole - visible);
  const shown = Math.floor(above / rowHeight);
  const first = Math.max(0, shown - margin);
  const end = Math.min(total, shown + Math.ceil(visible / rowHeight) + 1 + margin);
  return { first, end, height, top: at - (above - first * rowHeight) };
}
