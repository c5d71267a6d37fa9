/**
 * The compiler of shapes: zod writes a program for a shape, which checks a value three times as fast. A bundle for a
 * browser gets `browser-shape-compiler.ts` instead, through `browser` in package.json.
 */
export { compile } from 'zod/mini';
