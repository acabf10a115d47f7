import type { FindingLayer } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import { masked } from '../forms/index.ts';
import type { EngineFinding, MessageSpan, ScanInput } from '../types.ts';
import { strengthOf } from './decision.ts';

/** The most findings of a result. */
const mostFindings = 200;
const longestMatch = 64;
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

/** The findings that are listed. If there are too many, those with the strongest actions are. */
export function listed(drafts: readonly Draft[], input: ScanInput): Listed {
  const truncated = drafts.length > mostFindings;
  const kept = truncated ? strongest(drafts) : [...drafts];
  kept.sort(
    (a, b) =>
      order.indexOf(a.layer) - order.indexOf(b.layer) ||
      (a.span?.[0] ?? -1) - (b.span?.[0] ?? -1) ||
      b.score - a.score,
  );
  return { findings: kept.map((draft) => findingOf(draft, input)), truncated };
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

function findingOf(draft: Draft, { text, messages }: ScanInput): EngineFinding {
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
    match: draft.span === undefined ? '' : previewOf(draft, text),
    details,
    ...(place?.message !== undefined && { message_index: place.message }),
  };
}

/** A preview of what was found, which masks personal data and secrets. */
function previewOf({ span, type, isMasked }: Draft, text: string): string {
  const raw = text.slice(span![0], Math.min(span![1], span![0] + 1_024));
  const preview = isMasked ? masked(type, raw) : raw;
  if (preview.length <= longestMatch) return preview;
  // A pair of surrogates is not divided.
  const end = longestMatch - 1;
  const cut = (preview.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
  return `${preview.slice(0, cut)}…`;
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
