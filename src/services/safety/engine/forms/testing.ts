/** Short forms for the tests of the detectors. */
import { detectors, type FormsRequest, recognise } from './index.ts';

export const allDetectors: ReadonlySet<string> = new Set(detectors.map(({ id }) => id));

/** What is found in a text, as `[type, value, score]`. */
export async function found(text: string, request: Partial<FormsRequest> = {}) {
  const findings = await recognise({ text, detectors: allDetectors, ...request });
  return findings.map(({ type, start, end, score }) => [type, text.slice(start, end), score] as const);
}

/** The values of one type that are found with at least this score. */
export async function valuesOf(type: string, text: string, least = 0.5, request: Partial<FormsRequest> = {}) {
  const findings = await found(text, request);
  return findings.filter(([each, , score]) => each === type && score >= least).map(([, value]) => value);
}

/** The score of one type in a text; undefined when nothing is found. */
export async function scoreOf(type: string, text: string, request: Partial<FormsRequest> = {}) {
  const one = new Set([type]);
  return (await found(text, { detectors: one, ...request })).find(([each]) => each === type)?.[2];
}
