/** The texts on which detectors are compared, what every one of them finds there, and how well. */
import { corpus, type Sample } from '../../src/services/safety/engine/corpus/index.ts';
import { f1Of, type Quality } from '../../src/services/safety/engine/corpus/quality.ts';
import { recognise } from '../../src/services/safety/engine/forms/index.ts';
import { sized } from '../scale.ts';

/** The texts of a comparison: those with values of these types, and harmless ones. */
export function textsWith(types: ReadonlySet<string>): readonly Sample[] {
  const { pii, secrets, benign } = corpus(11, sized(40, 5));
  const positive = [...pii, ...secrets].filter(({ labels }) => labels.every(({ type }) => types.has(type)));
  return [...positive, ...benign.slice(0, positive.length)];
}

/** Prose of a kilobyte around each of the texts, as scanned texts mostly are: something is in them, but not in every line. */
export function documentsOf(samples: readonly Sample[]): readonly Sample[] {
  return samples.map((sample) => ({ ...sample, text: `${prose}\n${sample.text}\n${prose}`, labels: [] }));
}

const paragraph =
  'Thank you for your patience while we looked into this. The parcel left our warehouse on Tuesday, and the carrier says that ' +
  'it will be with you before the weekend; if it is not, please write again and we will send another one at no cost. ';
const prose = paragraph.repeat(2);

/** Says which of the labelled values of a text is found, as far as the peer says; for harmless texts whether anything is. */
export interface Finder {
  spans(sample: Sample): Promise<readonly (readonly [start: number, end: number])[]>;
}

/** The detectors of this service, with the threshold of the built-in rules. */
export const plinth = (detectors: ReadonlySet<string>): Finder => ({
  async spans({ text, region }) {
    const findings = await recognise({ text, detectors, region });
    return findings.filter(({ score }) => score >= 0.5).map(({ start, end }) => [start, end]);
  },
});

/**
 * How well a finder does, by the measure that all of them can be held to: a labelled value counts as found when a span covers it,
 * whatever it is called, and a harmless text with any span counts as one wrong finding.
 */
export async function qualityOn(samples: readonly Sample[], finder: Finder): Promise<Quality> {
  let [right, wrong, missed] = [0, 0, 0];
  for (const sample of samples) {
    const spans = await finder.spans(sample);
    if (sample.labels.length === 0 && spans.length > 0) wrong++;
    for (const label of sample.labels)
      if (spans.some(([start, end]) => start <= label.start && end >= label.end)) right++;
      else missed++;
  }
  return { right, wrong, missed };
}

export const f1On = async (samples: readonly Sample[], finder: Finder): Promise<number> =>
  f1Of(await qualityOn(samples, finder));

/** The milliseconds that a finder takes for all texts. */
export async function timeOn(samples: readonly Sample[], finder: Finder): Promise<number> {
  const started = performance.now();
  for (const sample of samples) await finder.spans(sample);
  return performance.now() - started;
}
