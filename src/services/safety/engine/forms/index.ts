/** The detectors of personal data and secrets: a text in, what was recognised in it out. */
import { secrets } from '../secrets/catalogue.ts';
import { onlyWhenNamed, personalData } from './catalogue.ts';
import { withoutOverlaps } from './overlaps.ts';
import { recogniseNames } from './person-names.ts';
import { originalSpan, plainText } from './plain-text.ts';
import type { Detector, FormsRequest, Recognised } from './recognised.ts';
import { Scan, scoringOf } from './scan.ts';
import { scanText } from './scanner.ts';

export { masked } from './masks.ts';
export type { Detector, FormsRequest, Recognised } from './recognised.ts';
export { onlyWhenNamed };

const catalogue = [...personalData, ...secrets];

/** All detectors, by id. */
export const detectors: readonly Detector[] = catalogue
  .map(({ detector }) => detector)
  .sort((a, b) => (a.id < b.id ? -1 : 1));

const scoring = scoringOf(detectors);
const messages = new Map(catalogue.map(({ detector, message }) => [detector.id, message]));

/** So many findings take a noticeable time to sort. */
const foundPerSlice = 2_000;

const noPause = (): Promise<void> => Promise.resolve();

/** Recognises what the wanted detectors find, without overlaps, by its start. */
export async function recognise(request: FormsRequest): Promise<Recognised[]> {
  const { text, detectors: wanted, region, pause = noPause } = request;
  const plain = plainText(text);
  const scan = new Scan(plain.text, wanted, scoring, region);
  await scanText(scan, pause);
  if (scan.wants('pii.person_name')) await recogniseNames(scan, pause);
  if (scan.found.length > foundPerSlice) await pause();
  return withoutOverlaps(scan.found).map(({ type, start, end, score, normalised }) => {
    const [from, to] = originalSpan(plain, start, end);
    return { type, start: from, end: to, score, message: messages.get(type)!, normalised };
  });
}
