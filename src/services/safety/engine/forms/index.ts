/** The detectors of personal data and secrets: a text in, what was recognised in it out. */
import { secrets } from '../secrets/catalogue.ts';
import { onlyWhenNamed, personalData } from './catalogue.ts';
import { withoutOverlaps } from './overlaps.ts';
import { recogniseNames } from './person-names.ts';
import { originalSpan, plainText } from './plain-text.ts';
import type { Detector, FormsRequest, Recognised } from '../recognition/recognised.ts';
import { Scan, scoringOf } from '../recognition/scan.ts';
import { scanText } from './scanner.ts';

export { masked } from './masks.ts';
export type { Detector, FormsRequest, Recognised } from '../recognition/recognised.ts';
export { onlyWhenNamed };

const catalogue = [...personalData, ...secrets];

/** All detectors, by id. */
export const detectors: readonly Detector[] = catalogue
  .map(({ detector }) => detector)
  .sort((a, b) => (a.id < b.id ? -1 : 1));

const scoring = scoringOf(detectors);
const messages = new Map(catalogue.map(({ detector, message }) => [detector.id, message]));

/** Findings that are listed between two pauses. */
const foundPerSlice = 4_096;

const noPause = (): Promise<void> => Promise.resolve();

/** Recognises what the wanted detectors find, without overlaps, by its start. */
export async function recognise(request: FormsRequest): Promise<Recognised[]> {
  const { text, detectors: wanted, pause = noPause } = request;
  const plain = plainText(text);
  const scan = new Scan(plain.text, wanted, scoring, request);
  await scanText(scan, pause);
  if (scan.wants('pii.person_name')) await recogniseNames(scan, pause);
  const recognised: Recognised[] = [];
  for (const { type, start, end, score, normalised } of await withoutOverlaps(scan.found, pause)) {
    const [from, to] = originalSpan(plain, start, end);
    recognised.push({ type, start: from, end: to, score, message: messages.get(type)!, normalised });
    if (recognised.length % foundPerSlice === 0) await pause();
  }
  return recognised;
}
