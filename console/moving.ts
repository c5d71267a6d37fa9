/**
 * Lists whose things are laid out only while they can be seen (`content-visibility`), and come and go in another order.
 */

/**
 * Gives a list a way to move its things that Chromium notices. What `moveBefore` has moved, as Preact does, Chromium
 * takes for as far away as before, and draws nothing where it is. A thing that is taken out and put in would lose the
 * focus.
 */
export function noticeMoves(list: HTMLElement | null): void {
  if (list === null) return;
  list.moveBefore = (thing, next) => {
    const focus = document.activeElement;
    list.insertBefore(thing, next);
    if (focus instanceof HTMLElement && thing.contains(focus)) focus.focus({ preventScroll: true });
  };
}
