/** Texts at the limits of two schemas: by length, from patterns, and known texts with one character changed. */
import fc from 'fast-check';
import type { Schema } from './document.ts';
import { expression } from './members.ts';

const tries = 60;
/** Maximum length of a text. Above `long`, only one text is tried. */
const longest = 64 * 1024 * 1024;
const long = 10_000;

const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+02:00', '2026-01-02T03:04:05.678Z'],
  date: ['2026-01-02'],
  time: ['03:04:05Z'],
  uri: ['https://example.com/path?query=1', 'mailto:anna@example.com', 'urn:example:1'],
  email: ['anna@example.com'],
  uuid: ['0195a5b2-0f5c-7c3e-9c54-3f1f1b6d1a11'],
};

/** Returns candidates: the first schema may accept them and the second may refuse them, but neither is guaranteed. */
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
    // For texts of several megabytes, the shortest text that is too long is enough.
    (accepting.maxLength ?? 0) > long && refusing.maxLength !== undefined ? undefined : accepting.maxLength,
    less(refusing.minLength),
    more(refusing.maxLength),
    ...(refusing.pattern === pattern ? [] : [...repeats(pattern), ...repeats(refusing.pattern), 500]),
  ];
  const sized = lengths
    .filter((length) => length !== undefined && length >= 0 && length <= longest)
    .flatMap((length) =>
      seeds
        .slice(0, Number(length) > long ? 1 : 12)
        .flatMap((seed) => ofLength(seed, length as number, pattern)),
    );
  return [...new Set([...seeds, ...sized, ...changes])];
}

/** Maximum length for which a pattern is evaluated: longer texts would take too long. */
const longestWithPattern = 1_000_000;

const less = (bound: number | undefined) => (bound === undefined ? undefined : bound - 1);
const more = (bound: number | undefined) => (bound === undefined ? undefined : bound + 1);

/** Returns lengths around the counts in a pattern, `{0,62}`, where its limits are. */
const repeats = (pattern = ''): number[] =>
  [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
    .flatMap(([, least, most]) => [Number(least), Number(most ?? least)])
    .flatMap((count) => [count - 1, count, count + 1, count + 2, count + 3]);

const made = new Map<string, string[]>();

/** Returns texts that match a pattern. The seed is fixed so that a report is always the same. */
export function matching(pattern: string | undefined): string[] {
  if (pattern === undefined) return [];
  const known = made.get(pattern) ?? make(pattern);
  made.set(pattern, known);
  return known;
}

function make(pattern: string): string[] {
  try {
    return fc.sample(fc.stringMatching(expression(pattern)), { seed: 1, numRuns: tries });
  } catch {
    // fast-check cannot generate texts for look-arounds. Known texts and their edits have to suffice.
    return [];
  }
}

/** Returns the text stretched or shortened to a length by repeating or dropping characters where the pattern allows it. */
function ofLength(text: string, length: number, pattern: string | undefined): string[] {
  const characters = [...text];
  const extra = length - characters.length;
  if (pattern !== undefined && length > longestWithPattern) return [];
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

/** Returns every text that differs by one character. */
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
