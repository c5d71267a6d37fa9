/**
 * Links: a world as the fragment of an address. The steps are the text of a scenario, compressed.
 */

/** What a link says of a world. */
export interface Linked {
  /** All that is random in the world follows from the seed. */
  readonly seed: number;
  readonly steps: readonly string[];
  /** How many of the steps are done; the others are ahead. */
  readonly done: number;
}

/** The part of a fragment that says what the world is. */
export async function formatLink({ seed, steps, done }: Linked): Promise<string> {
  const bytes = await through(
    new CompressionStream('deflate-raw'),
    new TextEncoder().encode(steps.join('\n')),
  );
  const play = btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (each) => escapes[each] ?? '');
  return `seed=${String(seed)}&${done < steps.length ? `done=${String(done)}&` : ''}play=${play}`;
}

/** The world of a fragment; `undefined` if the fragment names none, or names one wrongly. */
export async function readLink(fragment: string): Promise<Linked | undefined> {
  const given = new URLSearchParams(fragment.replace(/^#?[^?]*\?/, ''));
  const play = given.get('play');
  if (play === null) return undefined;
  try {
    const text = atob(play.replace(/[-_]/g, (each) => (each === '-' ? '+' : '/')));
    const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
    const lines = new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), bytes));
    const steps = lines.split('\n').filter((line) => line !== '');
    return { seed: numberIn(given, 'seed') ?? 0, steps, done: numberIn(given, 'done') ?? steps.length };
  } catch {
    return undefined;
  }
}

/** Characters of Base64 that a fragment escapes (RFC 4648 §5). */
const escapes: Readonly<Record<string, string>> = { '+': '-', '/': '_' };

function numberIn(given: URLSearchParams, name: string): number | undefined {
  const text = given.get(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  // The readable side rejects as well.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}
