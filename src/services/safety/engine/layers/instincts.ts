import { assess, thresholds, usualStrategies, type Evidence } from '../attacks/attacks.ts';
import { findCanaries, repeatedShare } from '../attacks/canaries.ts';
import { severityOf } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { wordsOf } from '../text/words.ts';
import type { InstinctRule } from '../types.ts';
import { folded } from '../views/folding.ts';
import { applies, type LayerRun } from './layer.ts';

/** Attack reflexes. */
export const runInstincts: LayerRun = async ({ rules, facts, progress }) => {
  const instincts = rules.instincts.filter(({ primitive }) => applies(primitive, facts));
  if (instincts.length === 0) return;
  const evidence = await evidenceOf(instincts, facts);
  for (const rule of instincts) {
    const { name, category, sensitivity, action: own } = rule.primitive;
    const strategies = strategiesOf(rule);
    const found = await assess(category, strategies, evidence, facts.pace);
    if (found.score < thresholds[rule.sensitivity ?? sensitivity] || found.score === 0) continue;
    const action = rule.action ?? own;
    progress.drafts.push({
      layer: 'instinct',
      source: name,
      type: category,
      severity: severityOf(found.score),
      score: found.score,
      action: action === 'alert' ? 'log' : action,
      message: `looks like ${messages[category]}`,
      span: found.span,
      isMasked: false,
      details: {
        strategies: found.strategies,
        ...(found.rules.length > 0 && { rules: found.rules }),
        ...(found.encoding !== undefined && { encoding: found.encoding }),
      },
    });
    if (action === 'alert')
      progress.alerts.push({ event: 'alert', source: name, category, score: found.score });
    if (facts.pace.isDue) await facts.pace.rest();
  }
};

const messages = {
  injection: 'an injected instruction',
  jailbreak: "an attempt to disable the model's rules",
  exfiltration: 'an attempt to extract data',
  manipulation: 'pressure or false authority',
};

const strategiesOf = ({ primitive }: InstinctRule) =>
  primitive.strategies.length === 0 ? usualStrategies : primitive.strategies;

async function evidenceOf(instincts: readonly InstinctRule[], facts: Facts): Promise<Evidence> {
  const { views, context, input, pace } = facts;
  const canaries = instincts.flatMap((rule) =>
    strategiesOf(rule).flatMap(({ name, config }) => (name === 'canary' ? (config.tokens ?? []) : [])),
  );
  const usesCanaries = instincts.some((rule) => strategiesOf(rule).some(({ name }) => name === 'canary'));
  const place = usesCanaries
    ? await findCanaries(
        [...canaries, ...context.canaries],
        [views.plain, ...(await facts.disguises())],
        pace,
      )
    : () => undefined;
  const { systemPrompt } = context;
  const promptShare =
    usesCanaries && systemPrompt !== undefined && input.direction === 'output'
      ? await repeatedShare(
          await wordsOf(await folded(systemPrompt, pace), pace),
          await wordsOf(views.folded, pace),
          pace,
        )
      : 0;
  return {
    windows: await facts.attacks(),
    signs: views.folded.signs,
    length: views.folded.codes.length,
    canaryOf: (tokens) => place([...tokens, ...context.canaries]),
    promptShare,
  };
}
