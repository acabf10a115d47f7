import type { Action, PolicyRule } from '../../../../../generated/safety/types.ts';
import type { PolicyRules } from '../types.ts';
import { parseCondition } from './condition.ts';
import { compileCondition, type Test } from './evaluation.ts';
import { checkPossible } from './possible.ts';

/** A policy whose conditions are compiled. */
export interface CompiledPolicy {
  readonly name: string;
  readonly rules: readonly CompiledRule[];
}

export interface CompiledRule {
  readonly check_type: PolicyRule['check_type'];
  readonly test: Test;
  readonly action: Action;
  readonly error_message: string;
}

/** Compiles a policy. @throws Invalid('rules[0].condition: <problem> at <position>') */
export function compilePolicy({ name, rules }: PolicyRules): CompiledPolicy {
  const compiled = rules.map(({ check_type, condition, action, error_message, priority }, index) => ({
    check_type,
    test: compileCondition(parseCondition(condition, `rules[${index}].condition`)),
    action,
    error_message,
    priority,
  }));
  return { name, rules: compiled.sort((a, b) => a.priority - b.priority) };
}

/** Checks the conditions of a policy that someone writes. @throws Invalid('rules[0].condition: <problem> at <position>') */
export function checkPolicy({ rules }: Pick<PolicyRules, 'rules'>): void {
  rules.forEach(({ condition }, index) => {
    const field = `rules[${index}].condition`;
    checkPossible(parseCondition(condition, field), field);
  });
}
