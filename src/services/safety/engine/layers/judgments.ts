import type { Assessor, Domain } from '../../../../../generated/safety/types.ts';
import { severityOf } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { unknownShare } from '../judgments/numbers.ts';
import { unsupportedShare } from '../judgments/overlap.ts';
import { dissimilarity } from '../judgments/similarity.ts';
import { rounded } from '../rules/weights.ts';
import { applies, type LayerRun } from './layer.ts';

const assessor = (name: Assessor['name']): Assessor => ({
  name,
  weight: 1,
  requires_context: true,
  config: {},
});

const usualAssessors: Readonly<Record<Domain, readonly Assessor[]>> = {
  grounding: [assessor('overlap'), assessor('numbers')],
  consistency: [assessor('numbers')],
  relevance: [assessor('similarity')],
  compliance: [assessor('keywords')],
  custom: [],
};

/** The risk of a grounding without sources. */
const unknownRisk = 0.5;

const levels: readonly (readonly [from: number, level: string])[] = [
  [0.8, 'critical'],
  [0.6, 'high'],
  [0.4, 'medium'],
  [0.2, 'low'],
];

/** A risk from 0 to 1, or why it could not be assessed. */
type Risk = number | string;

/** Contextual risk. */
export const runJudgments: LayerRun = async ({ rules, facts, progress }) => {
  for (const { primitive, threshold } of rules.judgments) {
    if (!applies(primitive, facts)) continue;
    const assessors = primitive.assessors.length > 0 ? primitive.assessors : usualAssessors[primitive.domain];
    let sum = 0;
    let weights = 0;
    const parts: Record<string, number> = {};
    for (const one of assessors) {
      const risk = await riskOf(one, primitive.domain, facts);
      if (typeof risk === 'string') progress.skipped.push(`judgment/${primitive.name}: ${risk}`);
      else {
        sum += one.weight * risk;
        weights += one.weight;
        parts[one.name] = rounded(risk);
      }
    }
    if (weights === 0) continue;
    const risk = rounded(sum / weights);
    if (risk === 0 || risk < (threshold ?? primitive.threshold)) continue;
    progress.drafts.push({
      layer: 'judgment',
      source: primitive.name,
      type: `judgment.${primitive.domain}`,
      severity: severityOf(risk),
      score: risk,
      action: primitive.action === 'warn' ? 'log' : primitive.action,
      message: `${primitive.domain} risk`,
      span: undefined,
      isMasked: false,
      details: { level: levels.find(([from]) => risk >= from)?.[1] ?? 'none', assessors: parts },
    });
  }
};

async function riskOf(one: Assessor, domain: Domain, facts: Facts): Promise<Risk> {
  const { context, pace, views, text } = facts;
  const { sources, question } = context;
  const missing = (what: string): Risk =>
    domain === 'grounding' && !one.requires_context ? unknownRisk : `no ${what}`;
  switch (one.name) {
    case 'overlap':
      if (sources === undefined || sources.length === 0) return missing('sources');
      return (await unsupportedShare(text, sources, pace)) ?? 'no sentences to assess';
    case 'numbers': {
      if (sources === undefined && question === undefined) return missing('sources');
      const given = [...(sources ?? []), ...(question === undefined ? [] : [question])];
      return (await unknownShare(text, given, pace)) ?? 'no numbers or names to assess';
    }
    case 'similarity':
      return question === undefined ? missing('question') : dissimilarity(question, views.folded, pace);
    case 'keywords':
      return keywordRisk(one, facts);
  }
}

/** The share of the required and forbidden words that are violated. */
async function keywordRisk({ config }: Assessor, facts: Facts): Promise<Risk> {
  const { required = [], forbidden = [] } = config;
  if (required.length + forbidden.length === 0) return 'no keywords';
  const found = await facts.keywords();
  const violated =
    required.filter((keyword) => found(keyword, 'word') === undefined).length +
    forbidden.filter((keyword) => found(keyword, 'word') !== undefined).length;
  return violated / (required.length + forbidden.length);
}
