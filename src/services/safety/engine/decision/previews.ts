import { ordered } from '../../../../lib/ordered.ts';
import type { Draft } from '../draft.ts';
import { masked, type Recognised } from '../forms/index.ts';
import type { Pace } from '../pace.ts';
import { firstEndingAfter } from './redaction.ts';

/** A part of the text that no preview shows, and what it is if only one rule knows it. */
export interface Hidden {
  readonly start: number;
  readonly end: number;
  readonly type: string | undefined;
}

/** Makes the preview of a finding. */
export type PreviewOf = (draft: Draft) => string;

const longestPreview = 64;
/** The characters of a finding of which its preview is made. */
const longestRaw = 1_024;
const mask = '***';
/** Parts that are gone through between two looks at the clock. */
const partsPerLook = 1_024;

/** Whether the finding needs to know what else is in its span: its own value is not masked as a whole. */
export const isShown = (draft: Draft) => draft.span !== undefined && !draft.isMasked && !isRedacted(draft);

/** Also where a stronger action decides: what somebody wants redacted is not shown. */
const isRedacted = ({ action, redaction }: Draft) => action === 'redact' || redaction !== undefined;

/**
 * Decides what of a text leaves the engine in the previews of its findings: nothing of what is recognised as personal or secret, and
 * nothing of what a rule redacts, whichever finding it is in.
 */
export async function previewsOf(
  text: string,
  drafts: readonly Draft[],
  recognised: readonly (Recognised | Hidden)[],
  pace: Pace,
): Promise<PreviewOf> {
  const hidden = await hiddenParts(drafts, recognised, pace);
  return (draft) => {
    const { span, type } = draft;
    if (span === undefined) return '';
    const [start, end] = [span[0], Math.min(span[1], span[0] + longestRaw)];
    return shortened(
      isShown(draft) ? withMasks(text, start, end, hidden) : masked(type, text.slice(start, end)),
    );
  };
}

/** A text of which what is recognised in it is masked. */
export async function withoutValues(
  text: string,
  recognised: readonly Recognised[],
  pace: Pace,
): Promise<string> {
  return withMasks(text, 0, text.length, await hiddenParts([], recognised, pace));
}

async function hiddenParts(
  drafts: readonly Draft[],
  recognised: readonly (Recognised | Hidden)[],
  pace: Pace,
): Promise<Hidden[]> {
  const redacted = drafts.flatMap((draft) =>
    isRedacted(draft) && draft.span !== undefined
      ? [{ type: draft.type, start: draft.span[0], end: draft.span[1] }]
      : [],
  );
  const sorted = await ordered(
    [...recognised, ...redacted],
    (a, b) => a.start - b.start || b.end - a.end,
    () => pace.restIfDue(),
  );
  const parts: Hidden[] = [];
  for (const [index, { type, start, end }] of sorted.entries()) {
    if (index % partsPerLook === partsPerLook - 1) await pace.restIfDue();
    const last = parts.at(-1);
    if (last === undefined || start >= last.end) parts.push({ type, start, end });
    else if (end > last.end) parts[parts.length - 1] = { type: undefined, start: last.start, end };
  }
  return parts;
}

/** A part of the text in which what is hidden is masked. What lies only partly in it is masked without a trace of its value. */
function withMasks(text: string, start: number, end: number, hidden: readonly Hidden[]): string {
  let shown = '';
  let at = start;
  for (let index = firstEndingAfter(hidden, start); index < hidden.length; index++) {
    const part = hidden[index]!;
    if (part.start >= end) break;
    const isWhole = part.type !== undefined && part.start >= start && part.end <= end;
    shown += text.slice(at, Math.max(at, part.start));
    shown += isWhole ? masked(part.type, text.slice(part.start, part.end)) : mask;
    at = Math.min(part.end, end);
  }
  return shown + text.slice(at, end);
}

function shortened(preview: string): string {
  if (preview.length <= longestPreview) return preview;
  // A pair of surrogates is not divided.
  const end = longestPreview - 1;
  const cut = (preview.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
  return `${preview.slice(0, cut)}…`;
}
