import type { FindingLayer, Layer } from '../../../../generated/safety/types.ts';
import { decisionOf } from './decision/decision.ts';
import { listed } from './decision/findings.ts';
import { type Hidden, isShown, previewsOf } from './decision/previews.ts';
import { Redactor, withReplacements, type Replacement } from './decision/redaction.ts';
import type { Draft } from './draft.ts';
import { Facts } from './facts.ts';
import { runAwareness } from './layers/awareness.ts';
import { runBoundaries } from './layers/boundaries.ts';
import { runInstincts } from './layers/instincts.ts';
import { runJudgments } from './layers/judgments.ts';
import type { LayerRun, Progress } from './layers/layer.ts';
import { isPersonal, runPolicies } from './layers/policies.ts';
import { runReflexes } from './layers/reflexes.ts';
import { runValues } from './layers/values.ts';
import type { Matcher } from './matcher.ts';
import { Interrupted, Pace } from './pace.ts';
import { readContext } from './scan-context.ts';
import type { EngineResult, ScanInput } from './types.ts';
import { TextViews } from './views/text-views.ts';

const layers: readonly (readonly [name: Layer, run: LayerRun])[] = [
  ['instinct', runInstincts],
  ['awareness', runAwareness],
  ['boundary', runBoundaries],
  ['value', runValues],
  ['judgment', runJudgments],
  ['reflex', runReflexes],
];

const longestRedacted = 2_097_152;
const longestReply = 4_000;
const mostSkipped = 64;
const longestSkipped = 256;

/** Scans a text. @throws Interrupted when it takes too long and the profile says `fail` */
export async function scan(matcher: Matcher, input: ScanInput): Promise<EngineResult> {
  const pace = new Pace(input.pause, input.endsAt);
  const progress: Progress = {
    drafts: [],
    alerts: [],
    skipped: [...matcher.disabled[input.direction]],
    replies: { boundary: [], policy: [], reflex: [] },
    rewritten: undefined,
    hasPerceived: false,
  };
  const layersRun: Layer[] = [];
  let facts: Facts | undefined;
  try {
    const context = readContext(input, progress.skipped);
    facts = new Facts(matcher, input, context, await TextViews.of(input.text, pace), pace);
    await runLayers(facts, matcher, progress, layersRun);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const { on_error } = matcher.rules;
    if (on_error === 'fail') throw error;
    progress.drafts.push(engineDraft(error.type, on_error, layersRun.at(-1) ?? 'instinct', error.message));
  }
  return resultOf(input, { facts, matcher, progress, layersRun, pace });
}

async function runLayers(
  facts: Facts,
  { rules }: Matcher,
  progress: Progress,
  layersRun: Layer[],
): Promise<void> {
  for (const [layer, run] of layers) {
    const isOver = rules.short_circuit && decisionOf(progress.drafts) === 'block';
    if (isOver && layer !== 'reflex') continue;
    layersRun.push(layer);
    await run({ rules, facts, progress });
    if (layer === 'awareness') progress.hasPerceived = true;
    await facts.pace.restIfDue();
  }
  await runPolicies({ rules, facts, progress });
}

/** What a scan has come to. */
interface Ended {
  /** Undefined when it ended before anything was read. */
  readonly facts: Facts | undefined;
  readonly matcher: Matcher;
  readonly progress: Progress;
  readonly layersRun: Layer[];
  readonly pace: Pace;
}

async function resultOf(
  input: ScanInput,
  { facts, matcher, progress, layersRun, pace }: Ended,
): Promise<EngineResult> {
  const { drafts, replies, alerts } = progress;
  const unhurried = pace.unhurried();
  const redactor = new Redactor(input);
  let decision = decisionOf(drafts);
  const made = decision === 'block' ? [] : await redactor.replacements(drafts, longestRedacted, unhurried);
  const replacements = made ?? [];
  let redacted = replacements.length === 0 ? '' : await withReplacements(input.text, replacements, unhurried);
  if (made === undefined) {
    drafts.push(engineDraft('engine.limit', 'block', 'awareness', 'the redacted text would be too long'));
    decision = 'block';
  }
  const filled = filler(decision, drafts);
  if (progress.rewritten !== undefined && decision !== 'block') redacted = filled(progress.rewritten);
  const isBlocked = decision === 'block';
  const response = isBlocked
    ? ([...replies.boundary, ...replies.policy, ...replies.reflex.map(filled)].find(
        (reply) => reply !== '',
      ) ?? '')
    : '';
  // Most texts have no finding in which something else could stand.
  const recognised = facts && drafts.some(isShown) ? await hiddenIn(facts, matcher, progress, unhurried) : [];
  const previewOf = await previewsOf(input.text, drafts, recognised, unhurried);
  const { findings, truncated } = listed(drafts, input, previewOf);
  return {
    direction: input.direction,
    decision,
    blocked: isBlocked,
    findings,
    redacted: isBlocked ? '' : redacted,
    pii_count: await personalCount(drafts, unhurried),
    response: response.slice(0, longestReply),
    layers_run: layersRun,
    skipped: [...new Set(progress.skipped.map((entry) => entry.slice(0, longestSkipped)))].slice(
      0,
      mostSkipped,
    ),
    truncated,
    vaulted: isBlocked || progress.rewritten !== undefined ? [] : redactor.vaulted,
    alerts,
    ...(!isBlocked && redacted !== '' && (await redactedMessages(input, replacements, progress, unhurried))),
  };
}

/** What no preview shows: what is recognised, and what the profile redacts, also where its rules no longer ran. */
async function hiddenIn(
  facts: Facts,
  { rules }: Matcher,
  progress: Progress,
  pace: Pace,
): Promise<readonly Hidden[]> {
  const known = await facts.everythingHidden(pace);
  const hasOwn = rules.awareness.some(({ primitive }) =>
    primitive.detectors.some(({ keywords, patterns }) => keywords.length + patterns.length > 0),
  );
  if (progress.hasPerceived || !hasOwn) return known;
  const apart: Progress = { ...progress, drafts: [], alerts: [], skipped: [] };
  try {
    await runAwareness({ rules, facts, progress: apart });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return [{ type: undefined, start: 0, end: facts.text.length }];
  }
  return [
    ...known,
    ...apart.drafts.flatMap(({ type, span, action }) =>
      action === 'redact' && span !== undefined ? [{ type, start: span[0], end: span[1] }] : [],
    ),
  ];
}

/** Each message after redaction; nothing when there are none, or when another text takes their place. */
async function redactedMessages(
  { text, messages }: ScanInput,
  replacements: readonly Replacement[],
  { rewritten }: Progress,
  pace: Pace,
): Promise<Pick<EngineResult, 'redactedMessages'>> {
  if (messages === undefined || rewritten !== undefined) return {};
  const contents: string[] = [];
  for (const { start, end } of messages)
    contents.push(await withReplacements(text, replacements, pace, [start, end]));
  return { redactedMessages: contents };
}

/** More than any offset. */
const beyondTexts = 2 ** 24;

/** The places of personal data: several rules may find one. */
async function personalCount(drafts: readonly Draft[], pace: Pace): Promise<number> {
  const places = new Set<number>();
  for (const [index, draft] of drafts.entries()) {
    if (index % 1_024 === 1_023) await pace.restIfDue();
    if (isPersonal(draft) && draft.span !== undefined)
      places.add(draft.span[0] * beyondTexts + draft.span[1]);
  }
  return places.size;
}

/** Fills in a reply what is known only in the end. */
function filler(decision: string, drafts: readonly Draft[]): (text: string) => string {
  let types: string | undefined;
  return (text) =>
    text
      .replaceAll('{{decision}}', () => decision)
      .replaceAll('{{types}}', () => (types ??= [...new Set(drafts.map(({ type }) => type))].join(', ')))
      .slice(0, longestReply);
}

function engineDraft(
  type: 'engine.timeout' | 'engine.limit',
  action: 'flag' | 'block',
  layer: FindingLayer,
  message: string,
): Draft {
  return {
    layer,
    source: 'engine',
    type,
    severity: 'error',
    score: 1,
    action,
    message,
    span: undefined,
    isMasked: false,
    details: {},
  };
}
