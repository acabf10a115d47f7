import { matchesByFacts } from './abac.ts';
import { answerNow } from './decide.ts';
import { coversResource } from './policy-index.ts';
import type { PolicyList } from './policy-index.ts';
import type { CompiledPolicy } from './policies.ts';
import { cut, Question } from './question.ts';
import type { Rewrite } from './schema.ts';
import { supposeRole, supposeTuple } from './suppose.ts';
import type { Hint } from './types.ts';

const mostHints = 5;
const mostRoles = 3;
/** Maximum number of roles and relations to try. Each try is a check. */
const mostTries = 20;

/** Returns the changes that would make a denied check allowed. Every role and relation in a hint has been tried. */
export function* hintsFor(
  question: Question,
  deny: CompiledPolicy | undefined,
): Generator<undefined, Hint[], undefined> {
  const hints = deny === undefined ? yield* grantsFor(question) : denyHints(deny);
  return hints.slice(0, mostHints);
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

function* grantsFor(question: Question): Generator<undefined, Hint[], undefined> {
  const { allow } = question.model.derived(question.input.resource_type, question.input.action).policies;
  const roles = yield* roleHints(question);
  const relations = yield* relationHints(question);
  return [...roles, ...relations, ...(yield* conditionHints(question, allow))];
}

/** Tries the roles with the fewest permissions first: no hint should suggest making someone an administrator. */
function* roleHints(question: Question): Generator<undefined, Hint[], undefined> {
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
  const hints: Hint[] = [];
  for (const { rule } of granting.slice(0, mostTries)) {
    yield* question.request.breathe();
    if (!supposeRole(model, input, rule.id, () => isAllowed(question))) continue;
    hints.push({ kind: 'role', id: rule.id, detail: rule.slug });
    if (hints.length === mostRoles) break;
  }
  return hints;
}

function* relationHints(question: Question): Generator<undefined, Hint[], undefined> {
  const { model, input, resourceId } = question;
  if (resourceId === '') return [];
  const hints: Hint[] = [];
  for (const relation of grantingRelations(question).slice(0, mostTries)) {
    yield* question.request.breathe();
    const key = {
      object_type: input.resource_type,
      object_id: resourceId,
      relation,
      subject_type: input.subject_kind,
      subject_id: input.subject_id,
      subject_relation: '',
    };
    if (!supposeTuple(model, key, () => isAllowed(question))) continue;
    const object = `${key.object_type}:${key.object_id}#${key.relation}`;
    hints.push({
      kind: 'relation',
      id: cut(object),
      detail: cut(`${object}@${key.subject_type}:${key.subject_id}`),
    });
  }
  return hints;
}

/** Returns the relations of the resource's own type from which the action is derived and that admit the subject as a plain one. */
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

/** Hints from allow policies that cover the question except for their conditions. */
function* conditionHints(question: Question, list: PolicyList): Generator<undefined, Hint[], undefined> {
  const { request } = question;
  const hints: Hint[] = [];
  for (const indexed of list.policies) {
    const { policy } = indexed;
    const verdict = request.verdicts?.get(policy);
    if (verdict === undefined || !coversResource(indexed, question.resourceId)) continue;
    if (verdict.failing.length === 0) continue;
    if (!verdict.literally) {
      yield* request.breathe();
      question.resume();
      if (!matchesByFacts(question, policy)) continue;
    }
    const fields = verdict.failing.map(
      (at) => `conditions[${at}]: ${policy.rule.conditions[at]?.field ?? ''}`,
    );
    hints.push({ kind: 'condition', id: policy.rule.id, detail: cut(fields.join(', ')) });
    if (hints.length === mostHints) break;
  }
  return hints;
}

function isAllowed({ model, input, request }: Question): boolean {
  return answerNow(new Question(model, input, request)).answer.allowed;
}
