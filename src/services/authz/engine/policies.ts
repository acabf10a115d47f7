import { Invalid } from '../../../lib/errors.ts';
import { checkConditions, compileCondition } from './conditions.ts';
import type { Test } from './conditions.ts';
import { checkPattern, matches } from './pattern.ts';
import type { Decision, PolicyRule } from './types.ts';

/** One entry of a policy's `subjects`. `kind: null`: any kind. */
export type SubjectMatcher =
  | { readonly form: 'any' }
  | { readonly form: 'id'; readonly kind: string | null; readonly id: string }
  | { readonly form: 'pattern'; readonly kind: string | null; readonly pattern: string }
  | { readonly form: 'role'; readonly slug: string }
  | { readonly form: 'userset'; readonly type: string; readonly id: string; readonly relation: string };

export type RoleMatcher = SubjectMatcher & { form: 'role' };
export type UsersetMatcher = SubjectMatcher & { form: 'userset' };

export interface CompiledPolicy {
  readonly rule: PolicyRule;
  /** Subjects that the question itself answers. */
  readonly literal: readonly SubjectMatcher[];
  readonly roles: readonly RoleMatcher[];
  readonly usersets: readonly UsersetMatcher[];
  readonly conditions: readonly Test[];
  /** What a check answers when this policy decides it. */
  readonly outcome: { readonly answer: Decision };
}

const KIND = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const SLUG = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
const RELATION = /^[A-Za-z_]([A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?$/;

/** Judges a policy's matchers and conditions on write; throws `Invalid('subjects[0]: …')`. */
export function checkPolicy(
  policy: Pick<PolicyRule, 'subjects' | 'actions' | 'resources' | 'conditions'>,
): void {
  for (const member of ['subjects', 'actions', 'resources'] as const) {
    if (policy[member].length === 0) throw Invalid(`${member}: empty`);
    if (policy[member].length > 100) throw Invalid(`${member}: more than 100`);
  }
  policy.subjects.forEach((text, index) => parseSubject(text, `subjects[${index}]`));
  policy.actions.forEach((text, index) => checkPattern(text, `actions[${index}]`));
  policy.resources.forEach((text, index) => checkPattern(text, `resources[${index}]`));
  checkConditions(policy.conditions);
}

export function compilePolicy(rule: PolicyRule): CompiledPolicy {
  const subjects = rule.subjects.map((text, index) => parseSubject(text, `subjects[${index}]`));
  const allowed = rule.effect === 'allow';
  const answer: Decision = {
    allowed,
    decision: rule.effect,
    reason: `${allowed ? 'allowed' : 'denied'} by policy "${rule.name}"`,
    sources: ['abac'],
    matched_by: { source: 'abac', rule_id: rule.id, detail: `policy "${rule.name}"` },
  };
  return {
    rule,
    literal: subjects.filter(({ form }) => form === 'any' || form === 'id' || form === 'pattern'),
    roles: subjects.filter((matcher) => matcher.form === 'role'),
    usersets: subjects.filter((matcher) => matcher.form === 'userset'),
    conditions: rule.conditions.map(compileCondition),
    outcome: { answer },
  };
}

/** `role:` is always a role; a relation name after the last `#` makes a userset; the rest is a kind and a Pattern, or a Pattern. */
export function parseSubject(text: string, field: string): SubjectMatcher {
  if (text === '*') return { form: 'any' };
  const colon = text.indexOf(':');
  const kind = colon < 0 ? null : text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (kind === 'role') {
    if (!SLUG.test(rest)) throw Invalid(`${field}: not a role slug`);
    return { form: 'role', slug: rest };
  }
  if (kind !== null && !KIND.test(kind)) throw Invalid(`${field}: not a kind before ":"`);
  const hash = rest.lastIndexOf('#');
  const relation = rest.slice(hash + 1);
  if (hash >= 0 && RELATION.test(relation)) return parseUserset(kind, rest.slice(0, hash), relation, field);
  checkPattern(rest, field);
  return rest.includes('*') ? { form: 'pattern', kind, pattern: rest } : { form: 'id', kind, id: rest };
}

function parseUserset(type: string | null, id: string, relation: string, field: string): SubjectMatcher {
  if (type === null || id === '' || id === '*') throw Invalid(`${field}: a userset is "type:id#relation"`);
  return { form: 'userset', type, id, relation };
}

/** Whether one of the literal matchers covers a subject. */
export function matchesLiterally(policy: CompiledPolicy, kind: string, id: string): boolean {
  for (const matcher of policy.literal) {
    switch (matcher.form) {
      case 'any':
        return true;
      case 'id':
        if (matcher.id === id && (matcher.kind === null || matcher.kind === kind)) return true;
        break;
      case 'pattern':
        if ((matcher.kind === null || matcher.kind === kind) && matches(matcher.pattern, id)) return true;
    }
  }
  return false;
}
