import type { Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { decisionOf } from '../decision/decision.ts';
import type { CompiledRule } from '../policies/policies.ts';
import type { Situation } from '../policies/evaluation.ts';
import { redact } from './reflexes.ts';
import type { LayerRun } from './layer.ts';

const severities = ['info', 'warning', 'error', 'critical'] as const;

/** The rules of the policies in force, over what the layers found. */
export const runPolicies: LayerRun = async ({ rules, facts, progress }) => {
  const found = [...progress.drafts];
  for (const policy of facts.input.policies)
    for (const [index, rule] of policy.rules.entries()) {
      if (facts.pace.isDue) await facts.pace.rest();
      const own = rule.check_type === 'any' ? found : found.filter(({ layer }) => layer === rule.check_type);
      if (!rule.test(situationOf(own, found, progress.drafts, facts))) continue;
      const redactable = own.filter(({ span }) => span !== undefined);
      if (rule.action === 'redact') for (const draft of redactable) redact(draft, rules.redaction);
      progress.drafts.push(draftOf(policy.name, index, rule, redactable.length > 0));
      if (rule.action === 'block') progress.replies.policy.push(rule.error_message);
    }
};

function draftOf(source: string, index: number, rule: CompiledRule, hasSpans: boolean): Draft {
  return {
    layer: 'policy',
    source,
    type: `policy.${rule.check_type}.${index + 1}`,
    severity: rule.action === 'block' ? 'critical' : rule.action === 'log' ? 'info' : 'warning',
    score: 1,
    // Without a place in the text there is nothing that could be replaced.
    action: rule.action === 'redact' && !hasSpans ? 'flag' : rule.action,
    message: rule.error_message === '' ? 'a rule of the policy applies' : rule.error_message,
    span: undefined,
    isMasked: false,
    details: {},
  };
}

function situationOf(
  own: readonly Draft[],
  all: readonly Draft[],
  now: readonly Draft[],
  facts: Facts,
): Situation {
  const { input } = facts;
  const personal = all.filter(isPersonal).length;
  return {
    names: {
      score: own.length > 0 ? own.reduce((most, { score }) => Math.max(most, score), 0) : undefined,
      count: own.length,
      severity: severities.findLast((severity) => own.some((draft) => draft.severity === severity)),
      pii_count: personal,
      decision: decisionOf(now),
      direction: input.direction,
      text_length: input.text.length,
      types: [...new Set(own.map(({ type }) => type))],
      sources: [...new Set(own.map(({ source }) => source))],
      user_id: input.userId === '' ? undefined : input.userId,
    },
    flags: {
      pii_detected: personal > 0,
      secret_detected: all.some(({ type }) => type.startsWith('secret.')),
    },
    context: input.context,
    metadata: input.metadata,
  };
}

/** Findings of personal data; several rules may find the same. */
export const isPersonal = ({ layer, type }: Draft) => layer === 'awareness' && type.startsWith('pii.');
