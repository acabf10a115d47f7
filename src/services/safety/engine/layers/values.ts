import type { Principle, ValueRule } from '../../../../../generated/safety/types.ts';
import type { Scored } from '../awareness/topics.ts';
import type { Facts } from '../facts.ts';
import { noisyOr, rounded } from '../rules/weights.ts';
import { applies, type LayerRun } from './layer.ts';

const categories: Readonly<Record<Principle, readonly string[]>> = {
  toxicity: ['insult', 'profanity', 'threat', 'harassment', 'hate'],
  respect: ['insult', 'condescension', 'discrimination'],
  safety: ['violence', 'weapons', 'drugs', 'self_harm', 'cyber_abuse', 'terror', 'csae'],
  honesty: ['overclaim'],
  brand_safety: [],
  privacy: [],
  custom: [],
};

/** How much a keyword of the app counts. */
const keywordWeight = 0.8;

/** Ethics. */
export const runValues: LayerRun = async ({ rules, facts, progress }) => {
  for (const { primitive, threshold, action: override } of rules.values) {
    if (!applies(primitive, facts)) continue;
    const action = override ?? primitive.action;
    for (const rule of primitive.rules) {
      const found = await worstOf(rule, facts);
      if (found === undefined || found.score < (threshold ?? rule.threshold)) continue;
      progress.drafts.push({
        layer: 'value',
        source: primitive.name,
        type: `${rule.principle}.${found.category}`,
        severity: primitive.severity,
        score: found.score,
        action: action === 'warn' ? 'log' : action,
        message: `${rule.principle}: ${found.category.replaceAll('_', ' ')}`,
        span: found.span,
        isMasked: rule.principle === 'privacy',
        details: {},
      });
      if (facts.pace.isDue) await facts.pace.rest();
    }
  }
};

type Judged = Scored & { readonly category: string };

/** The category that a text violates the most. */
async function worstOf(rule: ValueRule, facts: Facts): Promise<Judged | undefined> {
  const scores: Judged[] = [];
  const known = categories[rule.principle];
  const wanted = rule.categories.length === 0 ? known : rule.categories;
  // Most texts have no term of any category.
  if (wanted.length > 0 && (await facts.contents()).length > 0)
    for (const category of wanted)
      if (known.includes(category)) scores.push({ category, ...(await facts.scoreOf(`value/${category}`)) });
  if (rule.keywords.length > 0) scores.push(await keywordScore(rule, facts));
  if (rule.principle === 'privacy') scores.push(await privacyScore(facts));
  const worst = scores.reduce<Judged | undefined>(
    (best, one) => (best === undefined || one.score > best.score ? one : best),
    undefined,
  );
  return worst !== undefined && worst.score > 0 ? worst : undefined;
}

async function keywordScore({ keywords }: ValueRule, facts: Facts): Promise<Judged> {
  const found = await facts.keywords();
  const present = keywords.flatMap((keyword) => found(keyword, 'word') ?? []);
  return {
    category: 'keywords',
    score: rounded(noisyOr(present.map(() => keywordWeight))),
    span: present[0]?.at(0),
  };
}

async function privacyScore(facts: Facts): Promise<Judged> {
  let worst: Judged = { category: 'personal_data', score: 0, span: undefined };
  for (const { type, score, start, end } of await facts.recognised())
    if (type.startsWith('pii.') && score > worst.score)
      worst = { category: 'personal_data', score: rounded(score), span: [start, end] };
  return worst;
}
