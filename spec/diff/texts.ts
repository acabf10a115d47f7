/** Texts at the edges of two schemas: their lengths, what their patterns make, and known texts with one character changed. */
import fc from 'fast-check';
import type { Schema } from './document.ts';
import { expression } from './reasons.ts';

const tries = 60;
const longest = 1_000_000;

const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+02:00', '2026-01-02T03:04:05.678Z'],
  date: ['2026-01-02'],
  time: ['03:04:05Z'],
  uri: ['https://example.com/path?query=1', 'mailto:anna@example.com', 'urn:example:1'],
  email: ['anna@example.com'],
  uuid: ['0195a5b2-0f5c-7c3e-9c54-3f1f1b6d1a11'],
};

/** Candidates that the first schema may accept and the second may not; neither is promised. */
export function texts(accepting: Schema, refusing: Schema): string[] {
  const { pattern } = accepting;
  const known: unknown[] = [accepting, refusing].flatMap((schema): unknown[] => [
    ...(schema.examples ?? []),
    ...(schema.enum ?? []),
    schema.default,
    schema.const,
    ...(schema.format === undefined ? [] : (formats[schema.format] ?? [])),
  ]);
  const seeds = [
    ...known.filter((value) => typeof value === 'string'),
    ...['a', 'text', '1', '', ' ', 'é', 'A', '_', '-', '.', 'not it', '2026-13-45'],
    ...matching(pattern),
    ...matching(refusing.pattern),
  ].filter((seed) => pattern === undefined || expression(pattern).test(seed));
  const changes =
    refusing.pattern !== undefined && refusing.pattern !== pattern
      ? seeds.slice(0, 6).flatMap((seed) => edits(seed.slice(0, 64)))
      : [];
  const lengths = [
    accepting.minLength,
    accepting.maxLength,
    less(refusing.minLength),
    more(refusing.maxLength),
    ...(refusing.pattern === pattern ? [] : [...repeats(pattern), ...repeats(refusing.pattern), 500]),
  ];
  const sized = lengths
    .filter((length) => length !== undefined && length >= 0 && length <= longest)
    .flatMap((length) => seeds.slice(0, 12).flatMap((seed) => ofLength(seed, length as number, pattern)));
  return [...new Set([...seeds, ...sized, ...changes])];
}

const less = (bound: number | undefined) => (bound === undefined ? undefined : bound - 1);
const more = (bound: number | undefined) => (bound === undefined ? undefined : bound + 1);

/** Lengths about the counts of a pattern, `{0,62}`, where its edges are. */
const repeats = (pattern = ''): number[] =>
  [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
    .flatMap(([, least, most]) => [Number(least), Number(most ?? least)])
    .flatMap((count) => [count - 1, count, count + 1, count + 2, count + 3]);

/** Texts that a pattern makes. The seed is fixed so that a report is the same each time. */
function matching(pattern: string | undefined): string[] {
  if (pattern === undefined) return [];
  try {
    return fc.sample(fc.stringMatching(expression(pattern)), { seed: 1, numRuns: tries });
  } catch {
    // fast-check does not build texts for look-arounds; known texts and their edits have to do.
    return [];
  }
}

/** The text made as long or as short as wanted by repeating or dropping characters where the pattern lets it. */
function ofLength(text: string, length: number, pattern: string | undefined): string[] {
  const characters = [...text];
  const extra = length - characters.length;
  if (pattern === undefined)
    return [extra > 0 ? text + 'a'.repeat(extra) : characters.slice(0, length).join('')];
  const fits = expression(pattern);
  for (const at of characters.keys()) {
    const made =
      extra >= 0
        ? characters.toSpliced(at, 0, (characters[at] ?? '').repeat(extra))
        : characters.toSpliced(at, -extra);
    const result = made.join('');
    if ([...result].length === length && fits.test(result)) return [result];
  }
  return [];
}

const alphabet = [...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)), '\n', 'é', '😀'];

/** Every text that is one character away. */
function edits(text: string): string[] {
  const characters = [...text];
  return Array.from({ length: characters.length + 1 }, (_, at) => [
    characters.toSpliced(at, 1).join(''),
    ...alphabet.flatMap((one) => [
      characters.toSpliced(at, 1, one).join(''),
      characters.toSpliced(at, 0, one).join(''),
    ]),
  ]).flat();
}
