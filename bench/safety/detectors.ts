/** Detectors of personal data and secrets against others on the same texts: speed, and how much is found. */
import { atLeast, type Row, round } from '../row.ts';
import { paired } from '../statistics.ts';
import { documentsOf, f1On, type Finder, plinth, textsWith, timeOn } from './detection.ts';
import { expressionTypes, redactPii, redactPiiTypes, regexes, secretlint, secretlintTypes } from './peers.ts';

interface Comparison {
  readonly path: string;
  readonly baseline: string;
  readonly types: ReadonlySet<string>;
  readonly peer: Finder;
  readonly least: number;
}

export async function* personalData(): AsyncGenerator<Row> {
  yield* compared({
    path: 'personal data of 5 kinds, texts of 1 KB',
    baseline: '`redact-pii`, the same kinds',
    types: redactPiiTypes,
    peer: redactPii(),
    least: 2,
  });
}

export async function* secrets(): AsyncGenerator<Row> {
  yield* compared({
    path: 'secrets of 11 kinds, texts of 1 KB',
    baseline: '`@secretlint/core`, recommended rules',
    types: secretlintTypes,
    peer: secretlint(),
    least: 2,
  });
}

export async function* expressionLoop(): AsyncGenerator<Row> {
  yield* compared({
    path: `personal data and secrets of ${expressionTypes.size} kinds, texts of 1 KB`,
    baseline: 'a loop of V8 regular expressions',
    types: expressionTypes,
    peer: regexes(),
    least: 1,
  });
}

/** The speed as a ratio, and the F1 of both as a second row: being quick with fewer findings would be easy. */
async function* compared({ path, baseline, types, peer, least }: Comparison): AsyncGenerator<Row> {
  const samples = textsWith(types);
  const own = plinth(types);
  const documents = documentsOf(samples);
  const characters = documents.reduce((sum, { text }) => sum + text.length, 0);
  const { ratio, a, b } = await paired(
    () => timeOn(documents, peer),
    () => timeOn(documents, own),
  );
  const perKilobyte = (milliseconds: number) => `${round((milliseconds * 1_024_000) / characters)} µs`;
  yield atLeast(ratio, least, {
    path,
    baseline,
    measured: `${perKilobyte(b)} against ${perKilobyte(a)} a KB`,
  });
  const [ours, theirs] = [await f1On(samples, own), await f1On(samples, peer)];
  yield atLeast(ours / theirs, 1, {
    path: `${path}: F1`,
    baseline,
    measured: `${round(ours)} against ${round(theirs)}`,
  });
}
