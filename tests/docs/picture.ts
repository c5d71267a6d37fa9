/**
 * The pictures of the pages: who sends what to whom, in order. Their names are those of the library.
 */
import { type ProblemCode, routes } from 'gateway-admin-core';
import type { FleetRecord } from 'gateway-admin-core/fleet';

import type { alertTable, effectTable, eventTable, reportTable } from './tables.ts';

type Known =
  | keyof typeof effectTable
  | keyof typeof eventTable
  | keyof typeof reportTable
  | keyof typeof alertTable
  | FleetRecord['type']
  | ProblemCode;

/** A message from a lane to another one, or a remark beside one lane. The lanes are counted from 0. */
interface Step {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** Whether the step happens only sometimes. */
  readonly rare?: true;
}

interface Picture {
  readonly title: string;
  readonly lanes: readonly string[];
  readonly steps: readonly Step[];
}

/** A name that the library knows: a name that it knows no more does not compile. */
function name(known: Known): string {
  return known;
}

/** The request of a route, for a resource. */
function request(id: string, resource: string): string {
  const route = routes.find((each) => each.id === id);
  if (route === undefined) throw new RangeError(`There is no route ${id}`);
  return `${route.method} ${route.path.replace(':name', resource)}`;
}

function command(): Picture {
  const [client, admin, journal, gateway, readers] = [0, 1, 2, 3, 4];
  return {
    title: 'One command, from the request to the event',
    lanes: ['client', 'interface', 'journal', 'gateway', 'event readers'],
    steps: [
      { from: client, to: admin, text: request('services.stop', 'Sales') },
      { from: admin, to: admin, text: 'decides; a refusal is answered here' },
      { from: admin, to: journal, text: name('intent') },
      { from: admin, to: gateway, text: `apply: ${name('service.stop')}` },
      { from: gateway, to: admin, text: 'done' },
      { from: admin, to: gateway, text: 'inspect, if the outcome is unknown', rare: true },
      { from: admin, to: client, text: `504 ${name('outcome-unknown')}`, rare: true },
      { from: admin, to: journal, text: name('settlement') },
      { from: admin, to: admin, text: 'folds the event over the snapshot' },
      { from: admin, to: readers, text: name('service.stopped') },
      { from: admin, to: client, text: '204' },
    ],
  };
}

function drain(): Picture {
  const [operator, admin, gateway, clients] = [0, 1, 2, 3];
  return {
    title: 'A drain of a server, with a deadline and "then": "close"',
    lanes: ['operator', 'interface', 'gateway', 'sessions'],
    steps: [
      { from: operator, to: admin, text: request('servers.drain', 'db-1') },
      { from: admin, to: gateway, text: name('server.update') },
      { from: admin, to: operator, text: `204, event ${name('server.updated')}` },
      { from: gateway, to: gateway, text: 'begins no session on db-1, and cuts none' },
      { from: clients, to: gateway, text: 'ends by itself' },
      { from: gateway, to: admin, text: `report: ${name('connection.closed')}` },
      { from: admin, to: gateway, text: `${name('connections.close')} at the deadline`, rare: true },
      { from: gateway, to: clients, text: 'closes what is left', rare: true },
      { from: gateway, to: admin, text: `report: ${name('connection.closed')}`, rare: true },
      { from: admin, to: operator, text: `event ${name('server.drained')}` },
      { from: operator, to: admin, text: request('servers.resume', 'db-1') },
      { from: admin, to: gateway, text: name('server.update') },
    ],
  };
}

function fleet(): Picture {
  const [client, berlin, store, paris] = [0, 1, 2, 3];
  return {
    title: 'One command in a fleet of two nodes',
    lanes: ['client', 'node berlin', 'shared store', 'node paris'],
    steps: [
      { from: client, to: berlin, text: request('services.stop', 'Sales') },
      { from: store, to: berlin, text: 'the newest state' },
      { from: berlin, to: store, text: name('intent') },
      { from: berlin, to: berlin, text: `its gateway: ${name('service.stop')}` },
      { from: berlin, to: store, text: name('settlement') },
      { from: berlin, to: client, text: '204' },
      { from: store, to: paris, text: 'the change' },
      { from: paris, to: paris, text: `its gateway: ${name('service.stop')}` },
      { from: paris, to: paris, text: `or refuses: ${name('node-behind')}`, rare: true },
      { from: paris, to: store, text: 'applied' },
    ],
  };
}

/** The pictures, by their paths. */
export const pictures: Readonly<Record<string, () => string>> = {
  'docs/pictures/command.svg': () => draw(command()),
  'docs/pictures/drain.svg': () => draw(drain()),
  'docs/pictures/fleet.svg': () => draw(fleet()),
};

const width = 760;
const rowHeight = 34;
const top = 84;

const style = `
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328;text-anchor:middle}
text{paint-order:stroke;stroke:#fff;stroke-width:5px;stroke-linejoin:round}.title{font-size:17px;font-weight:600}
.lane{font-weight:600}.rare{font-style:italic}.ground{fill:#fff}line{stroke:#0550ae;stroke-width:1.5}
line.rare{stroke-dasharray:5 4}line.life{stroke:#d1d9e0;stroke-width:1}polygon{fill:#0550ae}
@media(prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.ground{fill:#0d1117}line{stroke:#79c0ff}
line.life{stroke:#3d444d}polygon{fill:#79c0ff}}
`;

/** Draws a picture as SVG, in the colours of the reader. */
function draw({ title, lanes, steps }: Picture): string {
  const height = top + steps.length * rowHeight + 12;
  const at = (lane: number): number => Math.round((width * (lane + 0.5)) / lanes.length);
  const text = (x: number, y: number, words: string, kind: string): string =>
    `<text class="${kind}" x="${String(x)}" y="${String(y)}">${words}</text>`;
  const line = (from: readonly [number, number], to: readonly [number, number], kind: string): string =>
    `<line class="${kind}" x1="${String(from[0])}" y1="${String(from[1])}" x2="${String(to[0])}" y2="${String(to[1])}"/>`;
  const told = steps.map((step) => `${lanes[step.from] ?? ''} → ${lanes[step.to] ?? ''}: ${step.text}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" role="img">`,
    `<title>${title}</title>`,
    `<desc>${told.join('. ')}.</desc>`,
    `<style>${style}</style>`,
    `<rect class="ground" width="${String(width)}" height="${String(height)}" rx="6"/>`,
    text(width / 2, 30, title, 'title'),
    ...lanes.flatMap((lane, index) => [
      text(at(index), 62, lane, 'lane'),
      line([at(index), 70], [at(index), height - 8], 'life'),
    ]),
    ...steps.flatMap(({ from, to, text: words, rare }, index) => {
      const y = top + index * rowHeight + 22;
      const kind = rare === true ? 'rare' : 'step';
      const label = text((at(from) + at(to)) / 2, y - 8, words, kind);
      if (from === to) return [label];
      const [end, back] = [at(to), Math.sign(at(from) - at(to)) * 9];
      const head = `<polygon points="${String(end)},${String(y)} ${String(end + back)},${String(y - 4)} ${String(end + back)},${String(y + 4)}"/>`;
      return [label, line([at(from), y], [end, y], kind), head];
    }),
    '</svg>\n',
  ].join('\n');
}
