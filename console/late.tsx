/**
 * The late part: what the first list does not need. The build makes a file of its own of it.
 */
export { actOfAlert, creating, creatingUser } from './act.ts';
export { ActDialog } from './dialog.tsx';
export { Drawer } from './drawer.tsx';
export { HistoryList } from './history.tsx';
export { Sessions } from './sessions.tsx';
