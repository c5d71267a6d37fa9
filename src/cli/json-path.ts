/**
 * JSONPath, as far as `-o jsonpath=` takes it: names, places in lists and `*`, in the spelling of kubectl. Rows are
 * chosen with `--where`.
 */

/** A step into a value: the name of a member, the place in a list, or every member. */
type Step = string | number | undefined;

/** A path: its steps. */
export type Path = readonly Step[];

/** The path without its braces and its `$`. */
const whole = /^(?:\{(?<inner>[^]*)\}|(?<bare>[^{}]*))$/;

/** A step at the beginning of what is left of a path. */
const step =
  /^(?:\.?(?<name>[^.[\]'"*{}]+)|(?<every>\.?\*|\[\*\])|\[(?<place>-?\d{1,15})\]|\[(?<mark>['"])(?<quoted>.*?)\k<mark>\])/;

/** The steps of a path such as `{[*].name}`; `undefined` if the text is no path. */
export function parsePath(text: string): Path | undefined {
  const { inner, bare = '' } = whole.exec(text)?.groups ?? {};
  let rest = (inner ?? bare).replace(/^\$/, '');
  if (rest === '' && text !== '{}' && text !== '{$}') return undefined;
  const steps: Step[] = [];
  while (rest !== '' && rest !== '.') {
    const found = step.exec(rest);
    if (found === null) return undefined;
    const { name, every, place, quoted } = found.groups ?? {};
    steps.push(every === undefined ? (name ?? quoted ?? Number(place)) : undefined);
    rest = rest.slice(found[0].length);
  }
  return steps;
}

/** The values at a path, in order; none if nothing is there. */
export function valuesAt(value: unknown, steps: Path): readonly unknown[] {
  return steps.reduce<readonly unknown[]>(
    (values, each) => values.flatMap((one) => inside(one, each)),
    [value],
  );
}

function inside(value: unknown, each: Step): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (each === undefined) return Object.values(value);
  if (Array.isArray(value)) return typeof each === 'number' ? value.slice(each).slice(0, 1) : [];
  const members = value as Readonly<Record<string, unknown>>;
  return Object.hasOwn(members, each) ? [members[each]] : [];
}
