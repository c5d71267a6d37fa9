/**
 * Planted faults: each switches off one cure that a commit has made, by replacing a text of a source file.
 * `npm run test:simulation -- --fault <name>` runs worlds with the fault, and must find it. A fault whose text is there no
 * longer, or there twice, is an error: mend or drop the fault together with the cure.
 *
 * - `commit`: the commit with the cure.
 * - `kind`: the simulation that finds the fault: `--scenarios`, `--fleet`, or none for the worlds of one node.
 * - `from`, `to`: the text that is replaced, and what stands there with the fault.
 */
export const faults = [
  {
    name: 'inspects-nothing-at-a-start',
    commit: '9d66feb2',
    what: 'A start forgets what an abandoned command has done.',
    kind: '--scenarios',
    file: 'src/runtime/command/recovery.ts',
    from: 'if (made.length === acting.length) return eventsOf(group);',
    to: 'if (made.length === acting.length) return [];',
  },
];
