import { matchesByFacts } from './abac.ts';
import { answer } from './decide.ts';
import { coversResource } from './policy-index.ts';
import type { PolicyList } from './policy-index.ts';
import { matchesLiterally } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import { cut, Question } from './question.ts';
import type { Rewrite } from './schema.ts';
import { supposeRole, supposeTuple } from './suppose.ts';
import type { Hint } from './types.ts';

const MAX_HINTS = 5;
const MAX_ROLES = 3;
/** Roles and relations that are tried; each try is a check. */
const MAX_TRIES = 20;

/** What would have to change for a denied check to be allowed. Every role and relation named has been tried. */
export function hintsFor(question: Question, deny: CompiledPolicy | undefined): Hint[] {
  const hints = deny === undefined ? grantsFor(question) : denyHints(deny);
  return hints.slice(0, MAX_HINTS);
}

function denyHints({ rule }: CompiledPolicy): Hint[] {
  return [
    { kind: 'policy', id: rule.id, detail: `policy "${rule.name}"` },
    ...rule.conditions.map((condition, index): Hint => ({
      kind: 'condition',
      id: rule.id,
      detail: cut(`conditions[${index}]: ${condition.field} ${condition.operator}`),
    })),
  ];
}

function grantsFor(question: Question): Hint[] {
  const { allow } = question.model.derived(question.input.resource_type, question.input.action).policies;
  return [...roleHints(question), ...relationHints(question), ...conditionHints(question, allow)];
}

/** The roles with the fewest permissions first: nobody should be told to become an administrator. */
function roleHints(question: Question): Hint[] {
  const { model, input } = question;
  const weight = new Map<string, number>();
  const granting = model.derived(input.resource_type, input.action).grants.roles();
  for (const entry of granting) {
    const chain = model.roles.chain(entry);
    weight.set(
      entry.rule.id,
      chain.reduce((sum, { rule }) => sum + model.roles.permissionCount(rule.id), 0),
    );
  }
  const weightOf = (id: string) => weight.get(id) ?? 0;
  granting.sort((a, b) => weightOf(a.rule.id) - weightOf(b.rule.id) || (a.rule.id < b.rule.id ? -1 : 1));
  return granting
    .slice(0, MAX_TRIES)
    .filter(({ rule }) => supposeRole(model, input, rule.id, () => isAllowed(question)))
    .slice(0, MAX_ROLES)
    .map(({ rule }) => ({ kind: 'role', id: rule.id, detail: rule.slug }));
}

function relationHints(question: Question): Hint[] {
  const { model, input, resourceId } = question;
  if (resourceId === '') return [];
  return grantingRelations(question)
    .slice(0, MAX_TRIES)
    .map((relation) => ({
      object_type: input.resource_type,
      object_id: resourceId,
      relation,
      subject_type: input.subject_kind,
      subject_id: input.subject_id,
      subject_relation: '',
    }))
    .filter((key) => supposeTuple(model, key, () => isAllowed(question)))
    .map((key) => {
      const object = `${key.object_type}:${key.object_id}#${key.relation}`;
      return {
        kind: 'relation',
        id: cut(object),
        detail: cut(`${object}@${key.subject_type}:${key.subject_id}`),
      };
    });
}

/** Relations of the resource's own type that the action is made of and that admit the subject as a plain one. */
function grantingRelations({ model, input, subjectType }: Question): string[] {
  const { strings } = model.facts;
  const type = model.schema.type(strings.find(input.resource_type));
  if (type === undefined) return [input.action];
  const found = new Set<number>();
  const walk = (name: number, seen: Set<number>): void => {
    const definition = type.get(name);
    if (definition === undefined || seen.has(name)) return;
    seen.add(name);
    const terms = (rewrite: Rewrite): void => {
      if (rewrite.op === 'this' && definition.plain.has(subjectType)) found.add(name);
      else if (rewrite.op === 'name') walk(rewrite.name, seen);
      else if (rewrite.op === 'exclusion') terms(rewrite.terms[0] ?? { op: 'union', terms: [] });
      else if (rewrite.op === 'union' || rewrite.op === 'intersection') rewrite.terms.forEach(terms);
    };
    terms(definition.rewrite);
  };
  walk(strings.find(input.action), new Set());
  return [...found].map((name) => strings.text(name));
}

/** Allow policies that cover the question in all but their conditions. */
function conditionHints(question: Question, list: PolicyList): Hint[] {
  const { input, now } = question;
  const hints: Hint[] = [];
  for (const indexed of list.policies) {
    const { policy } = indexed;
    if (!coversResource(indexed, question.resourceId)) continue;
    if (!matchesLiterally(policy, input.subject_kind, input.subject_id) && !matchesByFacts(question, policy))
      continue;
    const failing = failingConditions(policy, question, now);
    const fields = failing.map((at) => `conditions[${at}]: ${policy.rule.conditions[at]?.field ?? ''}`);
    if (failing.length > 0)
      hints.push({ kind: 'condition', id: policy.rule.id, detail: cut(fields.join(', ')) });
    if (hints.length === MAX_HINTS) break;
  }
  return hints;
}

/** Indexes of the conditions that do not hold. */
export function failingConditions(policy: CompiledPolicy, { input }: Question, now: number): number[] {
  return policy.conditions.flatMap((holds, index) => (holds({ input, now }) ? [] : [index]));
}

function isAllowed({ model, input, request }: Question): boolean {
  return answer(new Question(model, input, request)).answer.allowed;
}
