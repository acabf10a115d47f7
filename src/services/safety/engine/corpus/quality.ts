/** How well findings agree with the labels of a corpus. */
import type { Label, Sample } from './index.ts';

export interface Found extends Label {
  readonly score: number;
}

export interface Quality {
  readonly right: number;
  /** Findings that are no label. */
  readonly wrong: number;
  /** Labels that were not found. */
  readonly missed: number;
}

export const precisionOf = ({ right, wrong }: Quality): number => right / Math.max(1, right + wrong);
export const recallOf = ({ right, missed }: Quality): number => right / Math.max(1, right + missed);
/** The harmonic mean of precision and recall. */
export const f1Of = ({ right, wrong, missed }: Quality): number =>
  (2 * right) / Math.max(1, 2 * right + wrong + missed);

export const threshold = 0.5;

export interface Judged {
  readonly sample: Sample;
  readonly missed: readonly Label[];
  readonly wrong: readonly Found[];
}

/** What was missed and what was found wrongly in a text: a finding is right when its type and both ends are. */
export function judged(sample: Sample, findings: readonly Found[]): Judged {
  const certain = findings.filter(({ score }) => score >= threshold);
  const isSame = (a: Label, b: Label) => a.type === b.type && a.start === b.start && a.end === b.end;
  return {
    sample,
    missed: sample.labels.filter((label) => !certain.some((found) => isSame(found, label))),
    wrong: certain.filter((found) => !sample.labels.some((label) => isSame(found, label))),
  };
}

/** The quality of all findings, or of one type. */
export function qualityOf(results: readonly Judged[], type?: string): Quality {
  const count = (labels: readonly Label[]) =>
    labels.filter((label) => type === undefined || label.type === type).length;
  let [right, wrong, missed] = [0, 0, 0];
  for (const result of results) {
    const gone = count(result.missed);
    right += count(result.sample.labels) - gone;
    wrong += count(result.wrong);
    missed += gone;
  }
  return { right, wrong, missed };
}
