/** Precision and recall of every detector on the labelled corpus, printed as a table; the rows are the gate's figures. */
import { corpus, type Sample } from '../../src/services/safety/engine/corpus/index.ts';
import {
  judged,
  type Judged,
  precisionOf,
  qualityOf,
  recallOf,
} from '../../src/services/safety/engine/corpus/quality.ts';
import { detectors, onlyWhenNamed, recognise } from '../../src/services/safety/engine/forms/index.ts';
import { figureAtLeast, type Row } from '../row.ts';
import { sized } from '../scale.ts';

const wanted = new Set(detectors.map(({ id }) => id).filter((id) => !onlyWhenNamed.has(id)));

export async function* quality(): AsyncGenerator<Row> {
  const { pii, secrets, benign } = corpus(1, sized(200, 10));
  const [personal, secret, harmless] = [
    await judgedAll(pii),
    await judgedAll(secrets),
    await judgedAll(benign),
  ];
  const everything = [...personal, ...secret, ...harmless];
  for (const type of [...wanted].sort()) {
    const one = qualityOf(everything, type);
    console.log(
      `    ${type.padEnd(28)} precision ${percent(precisionOf(one))}  recall ${percent(recallOf(one))}`,
    );
  }
  const row = (path: string, figure: number, least: number) =>
    figureAtLeast(100 * figure, 100 * least, { path, unit: '%', baseline: 'the labelled corpus' });
  yield row('personal data: precision', precisionOf(qualityOf(personal)), 0.98);
  yield row('personal data: recall', recallOf(qualityOf(personal)), 0.95);
  yield row('secrets: precision', precisionOf(qualityOf(secret)), 0.97);
  yield row('secrets: recall', recallOf(qualityOf(secret)), 0.95);
  const passed = harmless.filter(({ wrong }) => wrong.length === 0).length;
  yield row('harmless texts without a finding', passed / harmless.length, 0.99);
}

async function judgedAll(samples: readonly Sample[]): Promise<Judged[]> {
  const results: Judged[] = [];
  for (const sample of samples)
    results.push(
      judged(sample, await recognise({ text: sample.text, detectors: wanted, region: sample.region })),
    );
  return results;
}

const percent = (share: number): string => `${(100 * share).toFixed(1).padStart(5)} %`;
