/**
 * The beginning. One script is the page, the world and the judge, so that it needs no other file: the page starts the
 * other two as workers with its own text.
 */
import { render } from 'preact';

import { actOfAlert, changing, creating, creatingUser } from '../../console/act.ts';
import { App } from '../../console/app.tsx';
import { ChosenRows } from '../../console/chosen.tsx';
import { ActDialog } from '../../console/dialog.tsx';
import { Drawer } from '../../console/drawer.tsx';
import { History } from '../../console/history.tsx';
import { Keys } from '../../console/key-help.tsx';
import { loadsLateBy } from '../../console/later.ts';
import { Live } from '../../console/live.tsx';
import { giveMeanings, type Meanings } from '../../console/meaning.ts';
import { openPage } from '../../console/page.ts';
import { Sessions } from '../../console/sessions.tsx';
import { judge } from './judge.ts';
import type { Charge, Order } from './message.ts';
import { Panel } from './panel.tsx';
import { Player } from './player.ts';
import { World } from './world.ts';

/** This whole script, as a function. The build gives it. */
declare const playground: () => void;

/** What things mean, in JSON. The build gives it. */
declare const meanings: string;

if (typeof document === 'undefined') work();
else open();

function open(): void {
  const text = new Blob([`(${String(playground)})()`], { type: 'text/javascript' });
  const address = URL.createObjectURL(text);
  const begin = (name: string): Worker => new Worker(address, { name });
  const player = new Player(begin('world'), begin('judge'));
  const parts = { ActDialog, ChosenRows, Drawer, History, Keys, Live, Sessions };
  const late = { ...parts, actOfAlert, changing, creating, creatingUser };
  loadsLateBy(() => Promise.resolve(late));
  giveMeanings(JSON.parse(meanings) as Meanings);
  openPage({
    // No other tab hears of this world.
    address,
    connect: () => player.connect(),
    logInAddress: '',
  });
  render(<App />, elementOf('page'));
  render(<Panel player={player} />, elementOf('panel'));
  void player.begin();
}

function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The document has no element "${id}"`);
  return element;
}

function work(): void {
  if (self.name === 'judge')
    self.onmessage = async ({ data }: MessageEvent<Charge>) => self.postMessage(await judge(data));
  else {
    const world = new World((news, transfer = []) => self.postMessage(news, { transfer }));
    self.onmessage = ({ data }: MessageEvent<Order>) => world.take(data);
  }
}
