import type { Action, ReflexAction, ReflexCreate } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import { fires, namesOf } from '../reflexes/triggers.ts';
import { compilePattern } from '../text/pattern.ts';
import { applies, type LayerInput, type LayerRun } from './layer.ts';

/** Actions on what the other layers found. */
export const runReflexes: LayerRun = async (input) => {
  const { rules, facts, progress } = input;
  const found = [...progress.drafts];
  const names = namesOf(found);
  for (const reflex of rules.reflexes) {
    if (!applies(reflex, facts)) continue;
    const verdicts: boolean[] = [];
    for (const trigger of reflex.triggers) {
      const verdict = await fires(trigger, names, facts);
      if (verdict === null) progress.skipped.push(`reflex/${reflex.name}: ${trigger.type} is not available`);
      verdicts.push(verdict ?? false);
      if (facts.pace.isDue) await facts.pace.rest();
    }
    const isTriggered = reflex.match === 'all' ? verdicts.every(Boolean) : verdicts.some(Boolean);
    if (!isTriggered) continue;
    for (const action of reflex.actions) {
      act(reflex, action, found, input);
      await facts.pace.restIfDue();
    }
  }
};

function act(reflex: ReflexCreate, action: ReflexAction, found: readonly Draft[], input: LayerInput): void {
  const { progress, rules } = input;
  switch (action.type) {
    case 'block':
    case 'flag':
    case 'log':
      add(reflex, action, action.type, input);
      return;
    case 'redact': {
      const covers = compilePattern(action.target ?? '*');
      const redactable = found.filter(({ span, type }) => span !== undefined && covers(type));
      for (const draft of redactable) redact(draft, rules.redaction);
      if (redactable.length > 0) add(reflex, action, 'redact', input);
      else fallBack(reflex, action, found, input);
      return;
    }
    case 'rewrite':
      if (action.value === undefined) return fallBack(reflex, action, found, input);
      progress.rewritten ??= action.value;
      progress.replies.reflex.push(action.value);
      add(reflex, action, 'redact', input);
      return;
    case 'escalate':
      progress.alerts.push({ event: 'escalation', source: reflex.name, score: 1 });
      add(reflex, action, 'log', input);
      return;
  }
}

/** Takes the other action. Of an action that needs more than its name nothing is known, so that there is no other for it. */
function fallBack(
  reflex: ReflexCreate,
  { fallback }: ReflexAction,
  found: readonly Draft[],
  input: LayerInput,
): void {
  if (fallback !== undefined) act(reflex, { type: fallback }, found, input);
}

/** Makes a finding one that is redacted, unless its action is already stronger. */
export function redact(draft: Draft, redaction: Draft['redaction']): void {
  draft.redaction ??= redaction;
  if (draft.action !== 'block') draft.action = 'redact';
}

function add({ name }: ReflexCreate, { type }: ReflexAction, action: Action, { progress }: LayerInput): void {
  progress.drafts.push({
    layer: 'reflex',
    source: name,
    type: `reflex.${type}`,
    severity: action === 'block' ? 'critical' : action === 'log' ? 'info' : 'warning',
    score: 1,
    action,
    message: `reflex: ${type}`,
    span: undefined,
    isMasked: false,
    details: {},
  });
}
