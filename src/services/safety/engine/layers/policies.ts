import type { Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { decisionOf } from '../decision/decision.ts';
import type { CompiledRule } from '../policies/policies.ts';
import type { Situation } from '../policies/evaluation.ts';
import { redact } from './reflexes.ts';
import type { LayerRun } from './layer.ts';

/** What the conditions of policies can read of some findings. */
interface Summary {
  readonly drafts: readonly Draft[];
  readonly score: number | undefined;
  readonly severities: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
  readonly sources: ReadonlySet<string>;
  readonly personal: number;
}

const severities = ['info', 'warning', 'error', 'critical'] as const;

/** The rules of the policies in force, over what the layers found. */
export const runPolicies: LayerRun = async ({ rules, facts, progress }) => {
  const found = [...progress.drafts];
  const sums = new Map<string, Summary>();
  const summaryOf = (type: CompiledRule['check_type']) => {
    let summary = sums.get(type);
    if (summary === undefined) sums.set(type, (summary = summarised(type, found)));
    return summary;
  };
  for (const policy of facts.input.policies)
    for (const [index, rule] of policy.rules.entries()) {
      if (facts.pace.isDue) await facts.pace.rest();
      const own = summaryOf(rule.check_type);
      const situation = situationOf(own, summaryOf('any'), progress.drafts, facts);
      if (!(await facts.pace.inSlices(rule.test(situation)))) continue;
      const redactable = own.drafts.filter(({ span }) => span !== undefined);
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

function summarised(check: CompiledRule['check_type'], found: readonly Draft[]): Summary {
  const drafts = check === 'any' ? found : found.filter(({ layer }) => layer === check);
  let score: number | undefined;
  let personal = 0;
  const [severitiesFound, types, sources] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const draft of drafts) {
    score = Math.max(score ?? 0, draft.score);
    if (isPersonal(draft)) personal++;
    severitiesFound.add(draft.severity);
    types.add(draft.type);
    sources.add(draft.source);
  }
  return { drafts, score, severities: severitiesFound, types, sources, personal };
}

function situationOf(own: Summary, all: Summary, now: readonly Draft[], facts: Facts): Situation {
  const { input } = facts;
  return {
    names: {
      score: own.score,
      count: own.drafts.length,
      severity: severities.findLast((severity) => own.severities.has(severity)),
      pii_count: all.personal,
      decision: decisionOf(now),
      direction: input.direction,
      text_length: input.text.length,
      types: [...own.types],
      sources: [...own.sources],
      user_id: input.userId === '' ? undefined : input.userId,
    },
    flags: {
      pii_detected: all.personal > 0,
      secret_detected: [...all.types].some((type) => type.startsWith('secret.')),
    },
    context: input.context,
    metadata: input.metadata,
  };
}

/** Findings of personal data; several rules may find the same. */
export const isPersonal = ({ layer, type }: Draft) => layer === 'awareness' && type.startsWith('pii.');
