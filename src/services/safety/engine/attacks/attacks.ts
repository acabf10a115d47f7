import type { AttackCategory, Sensitivity, Strategy } from '../../../../../generated/safety/types.ts';
import type { Pace } from '../pace.ts';
import { noisyOr, rounded } from '../rules/weights.ts';
import type { RuleHit } from '../rules/rule-index.ts';
import type { Signs } from '../views/folding.ts';
import type { Encoding } from '../views/readings.ts';

/** The scores from which an instinct triggers. */
export const thresholds: Readonly<Record<Sensitivity, number>> = {
  paranoid: 0.2,
  cautious: 0.4,
  balanced: 0.6,
  relaxed: 0.8,
  permissive: 0.95,
};

/** What is known of a text that concerns attacks. */
export interface Evidence {
  /** The hits of rules for attacks, by window. */
  readonly windows: readonly (readonly RuleHit[])[];
  readonly signs: Signs;
  /** Characters of the text without white space. */
  readonly length: number;
  /** Where a canary occurs in the text, and the share of the system prompt that it repeats. */
  canaryOf(tokens: readonly string[]): readonly [start: number, end: number] | undefined;
  readonly promptShare: number;
}

export interface Assessed {
  readonly score: number;
  readonly strategies: Readonly<Record<string, number>>;
  readonly rules: readonly string[];
  readonly encoding: Encoding | undefined;
  readonly span: readonly [start: number, end: number] | undefined;
}

/** Strategies without a list of their own. */
export const usualStrategies: readonly Strategy[] = [
  { name: 'patterns', weight: 1, config: {} },
  { name: 'hierarchy', weight: 1, config: {} },
  { name: 'obfuscation', weight: 0.8, config: {} },
  { name: 'canary', weight: 1, config: {} },
];

const mostRulesNamed = 5;
/** Encodings in which people do not read a text. */
const encodings: ReadonlySet<Encoding | undefined> = new Set<Encoding>([
  'reversed',
  'rot13',
  'tags',
  'base64',
  'hex',
  'percent',
  'escapes',
]);

/** The joint score of an instinct's strategies, in the window where it is highest. */
export async function assess(
  category: AttackCategory,
  strategies: readonly Strategy[],
  evidence: Evidence,
  pace: Pace,
): Promise<Assessed> {
  let best = assessWindow(category, strategies, evidence, []);
  for (const [index, hits] of evidence.windows.entries()) {
    if (index % 64 === 63 && pace.isDue) await pace.rest();
    const isConcerned = hits.some(
      ({ rule }) => rule.groups.includes(`attack/${category}`) || rule.groups.includes(template),
    );
    if (!isConcerned) continue;
    const one = assessWindow(category, strategies, evidence, hits);
    if (one.score > best.score) best = one;
  }
  return best;
}

function assessWindow(
  category: AttackCategory,
  strategies: readonly Strategy[],
  evidence: Evidence,
  all: readonly RuleHit[],
): Assessed {
  const scores: Record<string, number> = {};
  const counted = new Set<RuleHit>();
  let span: readonly [number, number] | undefined;
  for (const { name, weight, config } of strategies) {
    const disabled = new Set(config.disable);
    const hits = disabled.size === 0 ? all : all.filter(({ rule }) => !disabled.has(rule.id));
    const own = hits.filter(({ rule }) => rule.groups.includes(`attack/${category}`));
    const templates = hits.filter(({ rule }) => rule.groups.includes(template));
    let score = 0;
    if (name === 'patterns') score = noisyOr([...own.map((hit) => hit.weight), ...corroborating(own, hits)]);
    if (name === 'hierarchy') score = noisyOr(templates.map((hit) => hit.weight));
    if (name === 'obfuscation') score = noisyOr([...signsOf(evidence), ...disguised(own)]);
    if (name === 'canary') {
      const place = evidence.canaryOf(config.tokens ?? []);
      span ??= place;
      score = place !== undefined ? 1 : canaryScore(evidence.promptShare);
    }
    for (const hit of name === 'hierarchy' ? templates : name === 'canary' ? [] : own) counted.add(hit);
    scores[name] = Math.max(scores[name] ?? 0, weight * score);
  }
  const strongest = [...counted].sort((a, b) => b.weight - a.weight);
  return {
    score: rounded(noisyOr(Object.values(scores))),
    strategies: Object.fromEntries(
      Object.entries(scores)
        .filter(([, score]) => score > 0)
        .map(([name, score]) => [name, rounded(score)]),
    ),
    rules: strongest.slice(0, mostRulesNamed).map(({ rule }) => rule.id),
    encoding: strongest[0]?.encoding,
    span: span ?? (strongest[0] && [strongest[0].start, strongest[0].end]),
  };
}

const template = 'template/hierarchy';

/** How much the signs of other attacks count for one that has signs of its own. */
const corroboration = 0.4;

function corroborating(own: readonly RuleHit[], hits: readonly RuleHit[]): number[] {
  if (own.length === 0) return [];
  return hits
    .filter((hit) => !own.includes(hit) && hit.rule.groups.some((group) => group.startsWith('attack/')))
    .map(({ weight }) => corroboration * weight);
}

/** Signs of text that is not what it looks like. */
function signsOf({ signs, length }: Evidence): number[] {
  return [
    signs.tags > 0 ? 0.9 : 0,
    signs.overrides > 0 ? 0.6 : 0,
    signs.invisibles >= 3 ? 0.5 : 0,
    signs.mixedWords >= 2 ? 0.4 : 0,
    signs.marks > 0.2 * length ? 0.3 : 0,
  ].filter((score) => score > 0);
}

/** Scores of rules that were found only after undoing a disguise. */
function disguised(own: readonly RuleHit[]): number[] {
  const scores: number[] = [];
  if (own.some(({ encoding }) => encoding === 'spaced')) scores.push(0.7);
  if (own.some(({ encoding }) => encodings.has(encoding))) scores.push(0.8);
  return scores;
}

const canaryScore = (share: number) => (share < 0.1 ? 0 : Math.min(1, 2 * share));
