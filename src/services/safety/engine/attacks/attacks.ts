import type { AttackCategory, Sensitivity, Strategy } from '../../../../../generated/safety/types.ts';
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
  readonly hits: readonly RuleHit[];
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

/** The joint score of an instinct's strategies. */
export function assess(
  category: AttackCategory,
  strategies: readonly Strategy[],
  evidence: Evidence,
): Assessed {
  const scores: Record<string, number> = {};
  const counted: RuleHit[] = [];
  let span: readonly [number, number] | undefined;
  for (const { name, weight, config } of strategies) {
    const disabled = new Set(config.disable);
    const hits = evidence.hits.filter(({ rule }) => !disabled.has(rule.id));
    const own = hits.filter(({ rule }) => rule.groups.includes(`attack/${category}`));
    let score = 0;
    if (name === 'patterns') score = noisyOr([...own.map((hit) => hit.weight), ...corroborating(own, hits)]);
    if (name === 'hierarchy') score = noisyOr(templatesIn(hits).map((hit) => hit.weight));
    if (name === 'obfuscation') score = noisyOr([...signsOf(evidence), ...disguised(own)]);
    if (name === 'canary') {
      const place = evidence.canaryOf(config.tokens ?? []);
      span ??= place;
      score = place !== undefined ? 1 : canaryScore(evidence.promptShare);
    }
    if (name === 'patterns' || name === 'obfuscation') counted.push(...own);
    if (name === 'hierarchy') counted.push(...templatesIn(hits));
    // A weight may be 1 and more strategies follow, so that rounding waits.
    scores[name] = Math.max(scores[name] ?? 0, weight * score);
  }
  const strongest = [...new Set(counted)].sort((a, b) => b.weight - a.weight);
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

/** How much the signs of other attacks count for one that has signs of its own. */
const corroboration = 0.4;

function corroborating(own: readonly RuleHit[], hits: readonly RuleHit[]): number[] {
  if (own.length === 0) return [];
  return hits
    .filter((hit) => !own.includes(hit) && hit.rule.groups.some((group) => group.startsWith('attack/')))
    .map(({ weight }) => corroboration * weight);
}

const templatesIn = (hits: readonly RuleHit[]) =>
  hits.filter(({ rule }) => rule.groups.includes('template/hierarchy'));

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
