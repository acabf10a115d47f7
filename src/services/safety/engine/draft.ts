import type { Action, FindingLayer, Redaction, Severity } from '../../../../generated/safety/types.ts';

/** A finding in the making, with what redaction needs of it. */
export interface Draft {
  readonly layer: FindingLayer;
  readonly source: string;
  readonly type: string;
  readonly severity: Severity;
  readonly score: number;
  action: Action;
  readonly message: string;
  /** Undefined when it concerns the whole text. */
  readonly span: readonly [start: number, end: number] | undefined;
  /** Whether the preview masks what was found. */
  readonly isMasked: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  /** How its span is replaced when the action is `redact`. */
  redaction?: Redaction | undefined;
  /** The found value in its normal form, by which equal values are known. */
  readonly normalised?: string | undefined;
}

/** The severity of a score, for findings whose rule has none. */
export function severityOf(score: number): Severity {
  if (score >= 0.9) return 'critical';
  if (score >= 0.7) return 'error';
  return score >= 0.4 ? 'warning' : 'info';
}
