import type { FindingLayer, Layer } from '../../../../generated/safety/types.ts';
import { decisionOf } from './decision/decision.ts';
import { listed } from './decision/findings.ts';
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
  const pace = new Pace(input.pause, input.deadline);
  const progress: Progress = {
    drafts: [],
    alerts: [],
    skipped: [],
    replies: { boundary: [], policy: [], reflex: [] },
    rewritten: undefined,
  };
  const layersRun: Layer[] = [];
  try {
    await runLayers(matcher, input, progress, pace, layersRun);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const { on_error } = matcher.rules;
    if (on_error === 'fail') throw error;
    progress.drafts.push(engineDraft(error.type, on_error, layersRun.at(-1) ?? 'instinct', error.message));
  }
  return resultOf(input, progress, layersRun, pace);
}

async function runLayers(
  matcher: Matcher,
  input: ScanInput,
  progress: Progress,
  pace: Pace,
  layersRun: Layer[],
): Promise<void> {
  const { rules } = matcher;
  const context = readContext(input, progress.skipped);
  const facts = new Facts(matcher, input, context, await TextViews.of(input.text, pace), pace);
  for (const [layer, run] of layers) {
    const isOver = rules.short_circuit && decisionOf(progress.drafts) === 'block';
    if (isOver && layer !== 'reflex') continue;
    layersRun.push(layer);
    await run({ rules, facts, progress });
    if (pace.isDue) await pace.rest();
  }
  await runPolicies({ rules, facts, progress });
}

async function resultOf(
  input: ScanInput,
  progress: Progress,
  layersRun: Layer[],
  pace: Pace,
): Promise<EngineResult> {
  const { drafts, replies, alerts } = progress;
  const unhurried = pace.unhurried();
  const redactor = new Redactor(input);
  let decision = decisionOf(drafts);
  const replacements = decision === 'block' ? [] : await redactor.replacements(drafts, unhurried);
  let redacted = replacements.length === 0 ? '' : withReplacements(input.text, replacements);
  if (redacted.length > longestRedacted) {
    drafts.push(engineDraft('engine.limit', 'block', 'awareness', 'the redacted text would be too long'));
    decision = 'block';
  }
  const filled = (text: string) => fillIn(text, decision, drafts);
  if (progress.rewritten !== undefined && decision !== 'block') redacted = filled(progress.rewritten);
  const isBlocked = decision === 'block';
  const response = isBlocked
    ? ([...replies.boundary, ...replies.policy, ...replies.reflex.map(filled)].find(
        (reply) => reply !== '',
      ) ?? '')
    : '';
  const { findings, truncated } = listed(drafts, input);
  return {
    direction: input.direction,
    decision,
    blocked: isBlocked,
    findings,
    redacted: isBlocked ? '' : redacted,
    pii_count: personalCount(drafts),
    response: response.slice(0, longestReply),
    layers_run: layersRun,
    skipped: [...new Set(progress.skipped.map((entry) => entry.slice(0, longestSkipped)))].slice(
      0,
      mostSkipped,
    ),
    truncated,
    vaulted: isBlocked || progress.rewritten !== undefined ? [] : redactor.vaulted,
    alerts,
    ...(!isBlocked && input.messages && redacted !== '' && redactedMessages(input, replacements, progress)),
  };
}

/** Each message after redaction. A rewritten text takes the place of the last one. */
function redactedMessages(
  { text, messages = [] }: ScanInput,
  replacements: readonly Replacement[],
  { rewritten }: Progress,
): Pick<EngineResult, 'redactedMessages'> {
  if (rewritten !== undefined) return {};
  return {
    redactedMessages: messages.map(({ start, end }) => withReplacements(text, replacements, start, end)),
  };
}

/** The places of personal data: several rules may find one. */
function personalCount(drafts: readonly Draft[]): number {
  const places = new Set<string>();
  for (const draft of drafts) if (isPersonal(draft)) places.add(`${draft.span?.[0]}-${draft.span?.[1]}`);
  return places.size;
}

function fillIn(text: string, decision: string, drafts: readonly Draft[]): string {
  const types = [...new Set(drafts.map(({ type }) => type))].join(', ');
  return text
    .replaceAll('{{decision}}', () => decision)
    .replaceAll('{{types}}', () => types)
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
