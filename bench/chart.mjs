/**
 * A chart of lines with two logarithmic axes, as SVG. The chart has a background of its own, light or dark as the reader
 * prefers, so that it can be read on any page. A line is labelled where it ends.
 */

const size = { width: 760, height: 440 };
const plot = { left: 76, top: 84, right: 500, bottom: 384 };
const labelHeight = 34;

/** The colours can be told apart by readers who do not see all colours. */
const light = { ground: '#ffffff', text: '#1f2328', faint: '#59636e', grid: '#e3e7ec' };
const dark = { ground: '#0d1117', text: '#e6edf3', faint: '#9198a1', grid: '#262c36' };
const lightLines = ['#0550ae', '#bc4c00', '#1a7f37', '#8250df', '#6e7781'];
const darkLines = ['#58a6ff', '#ffa657', '#56d364', '#d2a8ff', '#9198a1'];

/**
 * Draws a chart.
 *
 * @param {object} chart
 * @param {string} chart.title
 * @param {string} chart.subtitle - what the axes show
 * @param {string} chart.across - the name of the horizontal axis
 * @param {(value: number) => string} chart.format - writes a value of the vertical axis
 * @param {{ name: string, colour: number, points: [number, number][] }[]} chart.lines - a point is a number and
 *   its cost. Colour 0 is ours. A further line of the same colour is dashed
 * @returns {string} the SVG
 */
export function drawChart({ title, subtitle, across, format, lines: given }) {
  const lines = given.map((line, index) => ({
    ...line,
    isDashed: given.slice(0, index).some(({ colour }) => colour === line.colour),
  }));
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const ys = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const x = scale([Math.min(...xs), Math.max(...xs)], [plot.left, plot.right]);
  const range = [10 ** Math.floor(Math.log10(Math.min(...ys))), 10 ** Math.ceil(Math.log10(Math.max(...ys)))];
  const y = scale(range, [plot.bottom, plot.top]);
  const { width, height } = size;
  const said = lines
    .map(
      ({ name, points }) =>
        `${name}: ${points.map(([x, y]) => `${format(y)} at ${x.toLocaleString('en')}`).join(', ')}`,
    )
    .join('. ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escape(title)}</title>
<desc>${escape(`${subtitle}. ${said}.`)}</desc>
<style>
${style()}</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
<text class="title" x="24" y="34">${escape(title)}</text>
<text class="faint" x="24" y="56">${escape(subtitle)}</text>
${decades(range)
  .map((value) => rule(format(value), y(value)))
  .join('\n')}
${marks(xs)
  .map((value) => tick(value, x(value)))
  .join('\n')}
<text class="faint" x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 42}" text-anchor="middle">${escape(across)}</text>
${lines
  .map((line) => path(line, x, y))
  .toReversed()
  .join('\n')}
${labels(lines, y, format).join('\n')}
</svg>
`;
}

function style() {
  const rules = ({ ground, text, faint, grid }, colours) =>
    [
      `.ground{fill:${ground};stroke:${grid}}.title,.name{fill:${text}}.faint{fill:${faint}}.grid{stroke:${grid}}`,
      ...colours.map((colour, n) => `.line-${n}{stroke:${colour}}.dot-${n}{fill:${colour}}`),
    ].join('\n');
  return `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:13px}
.title{font-size:17px;font-weight:600}.ours{font-weight:600}
path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.line-0{stroke-width:3.5}
.dashed{stroke-width:2;stroke-dasharray:2 6}.lead{stroke-width:1}
${rules(light, lightLines)}
@media (prefers-color-scheme:dark){
${rules(dark, darkLines)}
}
`;
}

function scale([from, to], [start, end]) {
  const part = (value) => Math.log(value / from) / Math.log(to / from);
  return (value) => Number((start + part(value) * (end - start)).toFixed(1));
}

/** The powers of ten from the first value to the last one. */
function decades([from, to]) {
  const powers = [];
  for (let power = Math.ceil(Math.log10(from)); power <= Math.log10(to) + 1e-9; power += 1)
    powers.push(10 ** power);
  return powers;
}

/** Where the horizontal axis has a number: at the powers of ten, or at the few points that there are. */
function marks(xs) {
  const points = [...new Set(xs)];
  return points.length > 3 ? decades([Math.min(...xs), Math.max(...xs)]) : points;
}

function rule(text, at) {
  return `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${at}" y2="${at}"/>
<text class="faint" x="${plot.left - 10}" y="${at + 4.5}" text-anchor="end">${text}</text>`;
}

function tick(value, at) {
  return `<line class="grid" x1="${at}" x2="${at}" y1="${plot.top}" y2="${plot.bottom + 6}"/>
<text class="faint" x="${at}" y="${plot.bottom + 22}" text-anchor="middle">${value.toLocaleString('en')}</text>`;
}

function path({ points, colour, isDashed }, x, y) {
  const places = points.map(([across, up]) => [x(across), y(up)]);
  const dots = places.map(
    ([cx, cy]) => `<circle class="dot-${colour}" cx="${cx}" cy="${cy}" r="${colour === 0 ? 4 : 3}"/>`,
  );
  return `<path class="line-${colour}${isDashed ? ' dashed' : ''}" d="M${places.map((place) => place.join(' ')).join('L')}"/>
${dots.join('')}`;
}

/** The labels at the ends of the lines, apart from each other. */
function labels(lines, y, format) {
  const ends = lines.map(({ name, colour, points }) => ({
    colour,
    name,
    last: points.at(-1)[1],
    at: y(points.at(-1)[1]),
  }));
  const placed = spread(ends.toSorted((a, b) => a.at - b.at));
  return placed.map(({ colour, name, last, at, place }) => {
    const left = plot.right + 36;
    return `<path class="line-${colour} lead" d="M${plot.right + 8} ${at}L${left - 6} ${place}"/>
<text class="name${colour === 0 ? ' ours' : ''}" x="${left}" y="${place}">${escape(name)}</text>
<text class="faint" x="${left}" y="${place + 16}">${format(last)}</text>`;
  });
}

/** Moves labels apart that would cover each other, from the top down and then back from the bottom. */
function spread(sorted) {
  const placed = sorted.map((each) => ({ ...each, place: each.at }));
  let above = plot.top - labelHeight;
  for (const each of placed) above = each.place = Math.max(each.place, above + labelHeight);
  let below = plot.bottom + labelHeight / 2;
  for (const each of placed.toReversed()) below = each.place = Math.min(each.place, below - labelHeight);
  return placed;
}

/** A time with its unit, such as `4.3 µs`. */
export function duration(us) {
  const units = [
    [1, 1000, 'ns'],
    [1000, 1, 'µs'],
    [1e6, 1e-3, 'ms'],
    [Infinity, 1e-6, 's'],
  ];
  const [, factor, unit] = units.find(([limit]) => us < limit);
  return `${Number((us * factor).toPrecision(2))} ${unit}`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
