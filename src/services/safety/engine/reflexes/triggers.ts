import type { Trigger } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { isEqual, valueAt } from '../policies/evaluation.ts';
import { compilePattern } from '../text/pattern.ts';

/** Whether a trigger fires; null when that cannot be known. */
export async function fires(
  trigger: Trigger,
  drafts: readonly Draft[],
  facts: Facts,
): Promise<boolean | null> {
  switch (trigger.type) {
    case 'always':
      return true;
    case 'on_score': {
      const covers = compilePattern(trigger.pattern ?? '*');
      const threshold = trigger.threshold ?? 0;
      return drafts.some(
        ({ layer, source, score }) => score >= threshold && (covers(layer) || covers(source)),
      );
    }
    case 'on_finding': {
      const covers = compilePattern(trigger.pattern ?? '*');
      return drafts.some(({ type, source }) => covers(type) || covers(source));
    }
    case 'on_pattern':
      return (await facts.expressions()).inText(trigger.pattern ?? '') !== undefined;
    case 'on_context':
      return compares(trigger, valueAt(facts.input.context, (trigger.path ?? '').split('.')));
    default:
      return null;
  }
}

function compares({ operator, value: target }: Trigger, value: unknown): boolean {
  if (operator === 'exists') return value !== undefined;
  if (value === undefined) return false;
  switch (operator) {
    case 'eq':
      return isEqual(value, target);
    case 'neq':
      return !isEqual(value, target);
    case 'in':
      return Array.isArray(target) && target.some((member) => isEqual(member, value));
    case 'gt':
      return typeof value === 'number' && typeof target === 'number' && value > target;
    case 'lt':
      return typeof value === 'number' && typeof target === 'number' && value < target;
    default:
      return false;
  }
}
