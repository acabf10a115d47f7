import { describe, expect, it } from 'vitest';
import { detectors, onlyWhenNamed, recognise } from '../forms/index.ts';
import { corpus, type Sample } from './index.ts';
import { judged, type Judged, precisionOf, qualityOf, recallOf } from './quality.ts';

const wanted = new Set(detectors.map(({ id }) => id).filter((id) => !onlyWhenNamed.has(id)));

async function measured(samples: readonly Sample[]): Promise<Judged[]> {
  const results: Judged[] = [];
  for (const sample of samples)
    results.push(
      judged(sample, await recognise({ text: sample.text, detectors: wanted, region: sample.region })),
    );
  return results;
}

describe('the quality on the labelled corpus', () => {
  const { pii, secrets, benign } = corpus(2_026, 25);

  it('of personal data', async () => {
    const quality = qualityOf(await measured(pii));
    expect(precisionOf(quality)).toBeGreaterThanOrEqual(0.98);
    expect(recallOf(quality)).toBeGreaterThanOrEqual(0.95);
  });

  it('of secrets', async () => {
    const quality = qualityOf(await measured(secrets));
    expect(precisionOf(quality)).toBeGreaterThanOrEqual(0.97);
    expect(recallOf(quality)).toBeGreaterThanOrEqual(0.95);
  });

  it('of harmless texts', async () => {
    const results = await measured(benign);
    const passed = results.filter(({ wrong }) => wrong.length === 0).length;
    expect(passed / results.length).toBeGreaterThanOrEqual(0.99);
  });

  it('counts every detector, and the corpus has all of them', () => {
    const labelled = new Set([...pii, ...secrets].flatMap(({ labels }) => labels.map(({ type }) => type)));
    expect([...labelled].sort()).toEqual([...wanted].sort());
    for (const { text, labels } of [...pii, ...secrets])
      for (const { start, end } of labels) expect(text.slice(start, end)).toMatch(/^\S/);
  });

  it('is measured on the same texts every time', () => {
    expect(corpus(1, 1)).toEqual(corpus(1, 1));
    expect(corpus(1, 1)).not.toEqual(corpus(2, 1));
  });

  it('counts findings of another type or with another end as wrong', () => {
    const sample = { text: 'ab', labels: [{ type: 'a', start: 0, end: 2 }], region: undefined };
    const other = [
      { type: 'a', start: 0, end: 1, score: 0.9 },
      { type: 'b', start: 0, end: 2, score: 0.9 },
      { type: 'a', start: 0, end: 2, score: 0.4 },
    ];
    expect(qualityOf([judged(sample, other)])).toEqual({ right: 0, wrong: 2, missed: 1 });
    expect(qualityOf([judged(sample, [{ ...sample.labels[0]!, score: 0.5 }])], 'a')).toEqual({
      right: 1,
      wrong: 0,
      missed: 0,
    });
  });
});
