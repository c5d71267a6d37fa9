/**
 * Measures pieces of work side by side: interleaved, in one process, by the CPU time of the process (garbage collection
 * and compiler threads included), the median of several rounds. Ratios are what counts; machines are noisy.
 */

/**
 * @param {Record<string, () => unknown>} cases - what to measure, by name; each call is one piece of work
 * @param {{ rounds?: number, roundMs?: number }} [options]
 * @returns {Record<string, number>} microseconds of CPU time for one call, by name
 */
export function measure(cases, { rounds = 9, roundMs = 60 } = {}) {
  const names = Object.keys(cases);
  const counts = Object.fromEntries(names.map((name) => [name, calibrate(cases[name], roundMs)]));
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) times[name].push(timeOf(cases[name], counts[name]));
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])]));
}

/** The last result, so that no work can be left out as useless. */
let kept;

/** How many calls fill a round, found on warm code. */
function calibrate(work, roundMs) {
  const start = performance.now();
  while (performance.now() - start < 400) kept = work();
  let count = 1;
  for (;;) {
    const perCall = timeOf(work, count);
    if (perCall * count >= roundMs * 1000) return count;
    count = Math.max(count * 2, Math.min(count * 16, Math.ceil((roundMs * 1100) / Math.max(perCall, 0.001))));
  }
}

function timeOf(work, count) {
  const start = process.cpuUsage();
  for (let call = 0; call < count; call += 1) kept = work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/**
 * Prints one row for each peer: its time, and how many times faster ours is.
 *
 * @param {string} title - what was measured
 * @param {Record<string, number>} times - what {@link measure} gave; the first is ours
 * @param {Record<string, number>} targets - the ratio to reach against each peer
 */
export function report(title, times, targets) {
  const [[, ours], ...peers] = Object.entries(times);
  console.log(`\n${title}: ${ours.toFixed(2)} µs`);
  for (const [name, time] of peers) {
    const ratio = time / ours;
    const target = targets[name];
    const verdict =
      target === undefined
        ? ''
        : ratio >= target
          ? `(target ${target} ×: met)`
          : `(target ${target} ×: MISSED)`;
    console.log(
      `  ${name.padEnd(58)} ${time.toFixed(2).padStart(9)} µs  ${ratio.toFixed(2).padStart(6)} ×  ${verdict}`,
    );
  }
}
