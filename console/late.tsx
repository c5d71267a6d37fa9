/**
 * The late part: what the first list does not need. The build makes a file of its own of it.
 */

/** The style of the late part. `scripts/console.js` gives it. */
declare const lateStyle: string;

const sheet = new CSSStyleSheet();
sheet.replaceSync(lateStyle);
document.adoptedStyleSheets = [sheet];

export { actOfAlert, changing, creating, creatingUser } from './act.ts';
export { ChosenRows } from './chosen.tsx';
export { ActDialog } from './dialog.tsx';
export { Drawer } from './drawer.tsx';
export { History } from './history.tsx';
export { Keys } from './key-help.tsx';
export { Live } from './live.tsx';
export { Sessions } from './sessions.tsx';
