import type { AwarenessAction, DetectorRule } from '../../../../../generated/safety/types.ts';
import { languageOf } from '../awareness/language.ts';
import { sentimentOf } from '../awareness/sentiment.ts';
import { ownKeywordWeight, scoreOf } from '../awareness/topics.ts';
import { allowedForms, isAllowed } from '../awareness/allow-list.ts';
import { severityOf, type Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { namedDetectors } from '../matcher.ts';
import { groupsBelow } from '../rules/built-in.ts';
import { rounded } from '../rules/weights.ts';
import type { AwarenessRule, ProfileRules } from '../types.ts';
import { wordsOf } from '../text/words.ts';
import { applies, type LayerRun } from './layer.ts';

/** One awareness in one scan. */
interface Use {
  readonly rule: AwarenessRule;
  readonly facts: Facts;
  readonly threshold: number;
  /** Adds a finding, unless its score is too low. */
  readonly add: (found: Found, detector?: DetectorRule) => void;
}

type Found = Pick<Draft, 'type' | 'score' | 'message' | 'span' | 'normalised'> &
  Partial<Pick<Draft, 'severity' | 'isMasked' | 'details'>>;

/** The score of a match of the app's own keywords and expressions. */
const customScore = 0.8;
const usualBelow = -0.6;
/** Units of work of a finding: its memory is what matters, of which a scan may not take much. */
const unitsPerFinding = 64;

/** Perception. */
export const runAwareness: LayerRun = async ({ rules, facts, progress }) => {
  for (const rule of rules.awareness) {
    if (!applies(rule.primitive, facts)) continue;
    const use = useOf(rule, rules, facts, (draft) => progress.drafts.push(draft));
    const { focus } = rule.primitive;
    if (focus === 'pii' || focus === 'secrets') await perceiveForms(use);
    if (focus === 'topic' || focus === 'intent') await perceiveGroups(use, focus);
    if (focus === 'sentiment') await perceiveSentiment(use);
    if (focus === 'language') perceiveLanguage(use);
    if (focus !== 'topic' && focus !== 'intent') await perceiveOwn(use);
  }
};

function useOf(rule: AwarenessRule, rules: ProfileRules, facts: Facts, push: (draft: Draft) => void): Use {
  const { primitive } = rule;
  const action: AwarenessAction = rule.action ?? primitive.action;
  const redaction =
    action === 'vault'
      ? ({ method: 'vault', config: {} } as const)
      : (primitive.redaction ?? rules.redaction);
  const threshold = rule.threshold ?? primitive.threshold;
  const allowed = allowedForms(primitive.allow_list);
  return {
    rule,
    facts,
    threshold,
    add(found, detector) {
      const { score, span, normalised } = found;
      if (score < (detector?.threshold ?? threshold)) return;
      if (span && isAllowed(allowed, facts.text.slice(...span), normalised)) return;
      facts.pace.spend(unitsPerFinding);
      const isRedacted = action === 'redact' || action === 'vault';
      push({
        layer: 'awareness',
        source: primitive.name,
        severity: severityOf(score),
        isMasked: false,
        details: {},
        ...found,
        // What concerns the whole text cannot be replaced in it.
        action: isRedacted ? (span === undefined ? 'flag' : 'redact') : action,
        redaction: isRedacted ? redaction : undefined,
      });
    },
  };
}

async function perceiveForms({ rule, facts, add }: Use): Promise<void> {
  const { primitive } = rule;
  const recognised = await facts.recognised();
  // Most texts have nothing of the kind.
  if (recognised.length === 0) return;
  const wanted = new Set(namedDetectors(primitive));
  const own = new Map(primitive.detectors.map((detector) => [detector.name, detector]));
  for (const [index, found] of recognised.entries()) {
    if (index % 32 === 31 && facts.pace.isDue) await facts.pace.rest();
    const { type, score, message, start, end, normalised } = found;
    if (!wanted.has(type)) continue;
    const severity = primitive.focus === 'pii' ? 'warning' : 'error';
    add(
      { type, score: rounded(score), message, span: [start, end], normalised, severity, isMasked: true },
      own.get(type),
    );
  }
}

/** Topics and intents: groups of built-in terms, and the keywords of the app. */
async function perceiveGroups({ rule, facts, add }: Use, kind: 'topic' | 'intent'): Promise<void> {
  const { detectors } = rule.primitive;
  const built: readonly string[] = groupsBelow(`${kind}/`);
  const nameOf = (name: string) => (name.startsWith(`${kind}.`) ? name.slice(kind.length + 1) : name);
  const wanted: readonly (DetectorRule | string)[] = detectors.length === 0 ? built : detectors;
  const keywords = await facts.keywords();
  for (const one of wanted) {
    const detector = typeof one === 'string' ? undefined : one;
    const name = nameOf(typeof one === 'string' ? one : one.name);
    const own = (detector?.keywords ?? []).flatMap((keyword) => keywords(keyword, detector!.match) ?? []);
    const group = `${kind}/${name}`;
    const { score, span } =
      own.length === 0
        ? await facts.scoreOf(group)
        : scoreOf(
            group,
            await facts.contents(),
            own.map(() => ownKeywordWeight),
          );
    if (score === 0) continue;
    add(
      { type: `${kind}.${name}`, score, message: `${kind} ${name}`, span: span ?? own[0]?.at(0) },
      detector,
    );
  }
}

async function perceiveSentiment({ rule, facts, add }: Use): Promise<void> {
  const detector = rule.primitive.detectors[0];
  const mean = await sentimentOf(await wordsOf(facts.views.folded, facts.pace), facts.pace);
  if (mean === undefined || mean > (detector?.config.below ?? usualBelow)) return;
  const details = { valence: rounded(Math.abs(mean)) * -1 };
  add(
    {
      type: 'sentiment.negative',
      score: rounded(-mean),
      message: 'negative sentiment',
      span: undefined,
      details,
    },
    detector,
  );
}

function perceiveLanguage({ rule, facts, add }: Use): void {
  const detector = rule.primitive.detectors[0];
  const language = languageOf(facts.text);
  if (language === undefined || detector?.config.allow?.includes(language.code)) return;
  const { code, score } = language;
  const details = { language: code };
  add(
    { type: 'language.other', score: rounded(score), message: `language ${code}`, span: undefined, details },
    detector,
  );
}

/** Keywords and expressions of the app: each of their places is a finding. */
async function perceiveOwn({ rule, facts, add }: Use): Promise<void> {
  for (const detector of rule.primitive.detectors) {
    const { name, keywords, patterns, match } = detector;
    if (keywords.length === 0 && patterns.length === 0) continue;
    const found = keywords.length > 0 ? await facts.keywords() : undefined;
    const matched = patterns.length > 0 ? await facts.expressions() : undefined;
    const places = [
      ...keywords.map((keyword) => found?.(keyword, match)),
      ...patterns.map((pattern) => matched?.anywhere(pattern)),
    ];
    for (const spans of places)
      for (let index = 0; spans !== undefined && index < spans.count; index++) {
        if (index % 32 === 31 && facts.pace.isDue) await facts.pace.rest();
        const span = spans.at(index);
        add(
          { type: name, score: customScore, message: `match of ${name}`, span, normalised: undefined },
          detector,
        );
      }
  }
}
