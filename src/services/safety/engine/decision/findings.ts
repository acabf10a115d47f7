import type { FindingLayer } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import type { EngineFinding, MessageSpan, ScanInput } from '../types.ts';
import { strengthOf } from './decision.ts';
import type { PreviewOf } from './previews.ts';

/** The most findings of a result. */
const mostFindings = 200;
const longestMessage = 500;
const longestType = 128;

const order: readonly FindingLayer[] = [
  'instinct',
  'awareness',
  'boundary',
  'value',
  'judgment',
  'reflex',
  'policy',
];

export interface Listed {
  readonly findings: EngineFinding[];
  readonly truncated: boolean;
}

/** The findings that are to be listed. If there are too many, those with the strongest actions are. */
export function listed(drafts: readonly Draft[], input: ScanInput, previewOf: PreviewOf): Listed {
  const wanted = wantedOf(drafts, input);
  const truncated = wanted.length > mostFindings;
  const kept = truncated ? strongest(wanted) : [...wanted];
  kept.sort(
    (a, b) =>
      order.indexOf(a.layer) - order.indexOf(b.layer) ||
      (a.span?.[0] ?? -1) - (b.span?.[0] ?? -1) ||
      b.score - a.score,
  );
  return { findings: kept.map((draft) => findingOf(draft, input, previewOf)), truncated };
}

/** What a request asks to see of the findings; all of them have decided. */
function wantedOf(drafts: readonly Draft[], { detectors, minScore = 0 }: ScanInput): readonly Draft[] {
  if (detectors === undefined && minScore === 0) return drafts;
  const ids = detectors && new Set(detectors);
  return drafts.filter(
    (draft) =>
      isOfScan(draft) ||
      (draft.score >= minScore && (ids === undefined || draft.layer !== 'awareness' || ids.has(draft.type))),
  );
}

/** What the engine says of the scan itself, and then the first findings of each strength, the strongest first, in one pass. */
function strongest(drafts: readonly Draft[]): Draft[] {
  const ofScan: Draft[] = [];
  const byStrength: Draft[][] = [[], [], [], []];
  for (const draft of drafts) {
    const list = isOfScan(draft) ? ofScan : byStrength[strengthOf(draft.action)]!;
    if (list.length < mostFindings) list.push(draft);
  }
  return [...ofScan, ...byStrength.reverse().flat()].slice(0, mostFindings);
}

/** Whether a finding says that the scan did not go as it should. */
const isOfScan = ({ source, type }: Draft) => source === 'engine' && type.startsWith('engine.');

function findingOf(draft: Draft, { messages }: ScanInput, previewOf: PreviewOf): EngineFinding {
  const { layer, source, severity, score, action, details } = draft;
  const place = draft.span === undefined ? undefined : placeOf(draft.span, messages);
  return {
    layer,
    source,
    type: draft.type.slice(0, longestType),
    severity,
    score,
    action,
    message: draft.message.slice(0, longestMessage),
    start: place?.start ?? null,
    end: place?.end ?? null,
    match: previewOf(draft),
    details,
    ...(place?.message !== undefined && { message_index: place.message }),
  };
}

/** A place in the text, or in the message in which it begins. */
function placeOf([start, end]: readonly [number, number], messages: readonly MessageSpan[] | undefined) {
  const message = messages?.findIndex((one) => start < one.end && end > one.start) ?? -1;
  const within = messages?.[message];
  if (within === undefined) return { start, end, message: undefined };
  return {
    start: Math.max(start, within.start) - within.start,
    end: Math.min(end, within.end) - within.start,
    message,
  };
}
