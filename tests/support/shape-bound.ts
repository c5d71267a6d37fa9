/**
 * Bounds of shapes: the largest length, number or count that a shape accepts, read from the shape itself.
 */
import type * as z from 'zod/mini';

/** What the definition of a shape may have. */
interface Definition {
  readonly checks?: readonly {
    readonly _zod: {
      readonly def: { readonly maximum?: number; readonly value?: unknown; readonly check: string };
    };
  }[];
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly options?: readonly z.core.$ZodType[];
  readonly element?: z.core.$ZodType;
  readonly keyType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
}

/** The parts of a shape. */
function definitionOf(shape: z.core.$ZodType): Definition {
  return shape._zod.def;
}

/** The bounds of a shape itself, without those of its parts. */
function boundsOf(shape: z.core.$ZodType): readonly number[] {
  return (definitionOf(shape).checks ?? []).flatMap(({ _zod: { def } }) => {
    if (def.check === 'max_length') return [def.maximum ?? NaN];
    return def.check === 'less_than' ? [Number(def.value)] : [];
  });
}

/** The bounds of a shape and of all its parts. */
export function allBoundsOf(shape: z.core.$ZodType): readonly number[] {
  const {
    shape: members = {},
    options = [],
    element,
    keyType,
    valueType,
    innerType,
    in: input,
  } = definitionOf(shape);
  const parts = [...Object.values(members), ...options, element, keyType, valueType, innerType, input];
  return [...boundsOf(shape), ...parts.flatMap((part) => (part === undefined ? [] : allBoundsOf(part)))];
}
