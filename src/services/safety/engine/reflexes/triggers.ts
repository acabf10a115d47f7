import type { Trigger } from '../../../../../generated/safety/types.ts';
import type { Draft } from '../draft.ts';
import type { Facts } from '../facts.ts';
import { isEqual, valueAt } from '../policies/evaluation.ts';
import { compilePattern } from '../text/pattern.ts';

/** The names by which triggers know findings. */
export interface FoundNames {
  /** Types and sources. */
  readonly names: ReadonlySet<string>;
  /** Layers and sources, with the highest score of each. */
  readonly origins: ReadonlyMap<string, number>;
}

export function namesOf(drafts: readonly Draft[]): FoundNames {
  const names = new Set<string>();
  const origins = new Map<string, number>();
  for (const { type, source, layer, score } of drafts) {
    names.add(type).add(source);
    for (const origin of [layer, source]) origins.set(origin, Math.max(origins.get(origin) ?? 0, score));
  }
  return { names, origins };
}

/** Whether a trigger fires; null when that cannot be known. */
export async function fires(trigger: Trigger, found: FoundNames, facts: Facts): Promise<boolean | null> {
  switch (trigger.type) {
    case 'always':
      return true;
    case 'on_score': {
      const covers = compilePattern(trigger.pattern ?? '*');
      const threshold = trigger.threshold ?? 0;
      return [...found.origins].some(([name, score]) => score >= threshold && covers(name));
    }
    case 'on_finding': {
      const covers = compilePattern(trigger.pattern ?? '*');
      return [...found.names].some(covers);
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
