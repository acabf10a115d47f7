import { Invalid } from '../../../lib/errors.ts';
import { judgeConditions, lazyCondition, regexSize } from './conditions.ts';
import type { Test } from './conditions.ts';
import { checkPattern, compilePattern } from './pattern.ts';
import type { Matcher } from './pattern.ts';
import type { Decision, PolicyRule } from './types.ts';

/** One entry of a policy's `subjects`. `kind: null` means any kind. */
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
  /** Subject matchers that need nothing but the question. */
  readonly literal: readonly SubjectMatcher[];
  readonly roles: readonly RoleMatcher[];
  readonly usersets: readonly UsersetMatcher[];
  /** The literal subjects, compiled: everybody, ids with their kinds (`''`: any kind), and patterns. */
  readonly everybody: boolean;
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>;
  readonly patterns: readonly { readonly kind: string | null; readonly test: Matcher }[];
  /** Whether the policy may match subjects that it does not name. */
  readonly isOpen: boolean;
  readonly actions: Choice;
  readonly resources: readonly ResourceMatcher[];
  readonly conditions: readonly Test[];
  /** The answer of a check that this policy decides. */
  readonly outcome: { readonly answer: Decision };
}

/** The resources of a policy that share their pattern of the type. */
interface ResourceMatcher {
  readonly type: Matcher;
  /** The ids to match. Null means every resource of the type, and the type itself. */
  readonly ids: Choice | null;
}

/** Patterns of which one has to match. Patterns without `*` are looked up directly. */
export interface Choice {
  readonly exact: ReadonlySet<string>;
  readonly patterns: readonly Matcher[];
  /** Whether one of them is `*`. */
  readonly all: boolean;
}

export const isChosen = ({ exact, patterns, all }: Choice, text: string): boolean =>
  all || exact.has(text) || patterns.some((test) => test(text));

export function choiceOf(texts: readonly string[]): Choice {
  const open = texts.filter((text) => text.includes('*') && text !== '*');
  return {
    exact: new Set(texts.filter((text) => !text.includes('*'))),
    patterns: open.map(compilePattern),
    all: texts.includes('*'),
  };
}

/** What a tenant's policies cost to evaluate and to hold. The total is bounded. */
export interface PolicySize {
  /** Bytes of matchers and conditions. */
  readonly bytes: number;
  /** Matchers with a `*` among other characters. */
  readonly wildcards: number;
  /** Instructions of the compiled regular expressions. */
  readonly instructions: number;
}

export type Matchers = Pick<PolicyRule, 'subjects' | 'actions' | 'resources' | 'conditions'>;

export function sizeOfPolicy({ subjects, actions, resources, conditions }: Matchers): PolicySize {
  const isOpen = (text: string) => text.includes('*') && text !== '*';
  return {
    bytes: Buffer.byteLength(JSON.stringify([subjects, actions, resources, conditions])),
    wildcards: [...subjects, ...actions, ...resources].filter(isOpen).length,
    instructions: regexSize(conditions),
  };
}

const kindPattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const slugPattern = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
const relationPattern = /^[A-Za-z_]([A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?$/;

/** Checks a policy's matchers and conditions on write. @throws Invalid('subjects[0]: …') */
export function checkPolicy(policy: Matchers): void {
  for (const _ of judgePolicy(policy));
}

/** Does the same for the given members of a policy, with pauses. */
export function* judgePolicy(policy: Partial<Matchers>): Generator<undefined, void, undefined> {
  for (const member of ['subjects', 'actions', 'resources'] as const) {
    const texts = policy[member];
    if (texts?.length === 0) throw Invalid(`${member}: empty`);
    if (texts !== undefined && texts.length > 100) throw Invalid(`${member}: more than 100`);
    const check = member === 'subjects' ? parseSubject : checkPattern;
    texts?.forEach((text, index) => check(text, `${member}[${index}]`));
  }
  yield* judgeConditions(policy.conditions ?? []);
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
  const ids = new Map<string, Set<string>>();
  for (const matcher of subjects)
    if (matcher.form === 'id')
      ids.set(matcher.id, (ids.get(matcher.id) ?? new Set<string>()).add(matcher.kind ?? ''));
  return {
    rule,
    literal: subjects.filter(({ form }) => form === 'any' || form === 'id' || form === 'pattern'),
    roles: subjects.filter((matcher) => matcher.form === 'role'),
    usersets: subjects.filter((matcher) => matcher.form === 'userset'),
    everybody: subjects.some(({ form }) => form === 'any'),
    ids,
    patterns: subjects.flatMap((matcher) =>
      matcher.form === 'pattern' ? [{ kind: matcher.kind, test: compilePattern(matcher.pattern) }] : [],
    ),
    isOpen: subjects.some(({ form }) => form !== 'id'),
    actions: choiceOf(rule.actions),
    resources: resourcesOf(rule.resources),
    conditions: rule.conditions.map(lazyCondition),
    outcome: { answer },
  };
}

function resourcesOf(resources: readonly string[]): ResourceMatcher[] {
  const byType = new Map<string, string[] | null>();
  for (const resource of resources) {
    const colon = resource.indexOf(':');
    const type = colon < 0 ? resource : resource.slice(0, colon);
    const ids = byType.get(type);
    if (colon < 0) byType.set(type, null);
    else if (ids === undefined) byType.set(type, [resource.slice(colon + 1)]);
    else ids?.push(resource.slice(colon + 1));
  }
  return [...byType].map(([type, ids]) => ({
    type: compilePattern(type),
    ids: ids === null ? null : choiceOf(ids),
  }));
}

/**
 * Parses a subject: `role:` is always a role, a relation name after the last `#` makes a userset, and the rest is a kind and a
 * Pattern, or a Pattern.
 */
export function parseSubject(text: string, field: string): SubjectMatcher {
  if (text === '*') return { form: 'any' };
  const colon = text.indexOf(':');
  const kind = colon < 0 ? null : text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (kind === 'role') {
    if (!slugPattern.test(rest)) throw Invalid(`${field}: not a role slug`);
    return { form: 'role', slug: rest };
  }
  if (kind !== null && !kindPattern.test(kind)) throw Invalid(`${field}: not a kind before ":"`);
  const hash = rest.lastIndexOf('#');
  const relation = rest.slice(hash + 1);
  if (hash >= 0 && relationPattern.test(relation))
    return parseUserset(kind, rest.slice(0, hash), relation, field);
  checkPattern(rest, field);
  return rest.includes('*') ? { form: 'pattern', kind, pattern: rest } : { form: 'id', kind, id: rest };
}

function parseUserset(type: string | null, id: string, relation: string, field: string): SubjectMatcher {
  if (type === null || id === '' || id === '*') throw Invalid(`${field}: a userset is "type:id#relation"`);
  return { form: 'userset', type, id, relation };
}

/** Whether one of the literal matchers covers a subject. */
export function matchesLiterally(policy: CompiledPolicy, kind: string, id: string): boolean {
  if (policy.everybody) return true;
  const kinds = policy.ids.get(id);
  if (kinds !== undefined && (kinds.has(kind) || kinds.has(''))) return true;
  return policy.patterns.some(
    (pattern) => (pattern.kind === null || pattern.kind === kind) && pattern.test(id),
  );
}
