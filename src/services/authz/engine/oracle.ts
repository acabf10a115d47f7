import { parseExpression } from './expression.ts';
import type { Expression } from './expression.ts';
import type { Store } from './testing.ts';
import type { CheckInput, PolicyRule, Source, TupleFact } from './types.ts';

/**
 * A second implementation of the page's rules, written as plainly as possible without regard for speed: relations as a naive
 * bottom-up fixpoint over all objects, stratum by stratum; roles and policies as loops. The tests use it as a second opinion.
 */
export function judge(
  store: Store,
  input: CheckInput,
  now: number,
): { allowed: boolean; source: Source | undefined } {
  const policies = store.policies
    .filter((policy) => policy.is_active)
    .sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  const applies = (policy: PolicyRule) => policyApplies(store, policy, input, now);
  if (policies.some((policy) => policy.effect === 'deny' && applies(policy)))
    return { allowed: false, source: 'abac' };
  if (grantedByRole(store, input, now)) return { allowed: true, source: 'rbac' };
  if (
    input.resource_id &&
    members(store, input, now).has(nodeText(input.resource_type, input.resource_id, input.action))
  ) {
    return { allowed: true, source: 'rebac' };
  }
  if (policies.some((policy) => policy.effect === 'allow' && applies(policy)))
    return { allowed: true, source: 'abac' };
  return { allowed: false, source: undefined };
}

const nodeText = (type: string, id: string, name: string) => JSON.stringify([type, id, name]);
const isLive = (fact: { expires_at: string | null }, now: number) =>
  fact.expires_at === null || Date.parse(fact.expires_at) > now;
const covers = (pattern: string, text: string) =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  ).test(text);

function roleIds(store: Store, input: CheckInput, now: number): Set<string> {
  const ids = new Set(
    store.assignments
      .filter((row) => row.subject_kind === input.subject_kind && row.subject_id === input.subject_id)
      .filter((row) => isLive(row, now))
      .filter((row) => row.resource_type === null || row.resource_type === input.resource_type)
      .filter(
        (row) => row.resource_id === null || (input.resource_id && row.resource_id === input.resource_id),
      )
      .map((row) => row.role_id),
  );
  if (input.subject_kind === 'user') for (const role of store.roles) if (role.is_default) ids.add(role.id);
  for (const id of ids) {
    const parent = store.roles.find((role) => role.id === id)?.parent_id;
    if (parent) ids.add(parent);
  }
  return new Set([...ids].filter((id) => store.roles.some((role) => role.id === id)));
}

function grantedByRole(store: Store, input: CheckInput, now: number): boolean {
  const ids = roleIds(store, input, now);
  return store.role_permissions.some((attachment) => {
    const permission = store.permissions.find(({ id }) => id === attachment.permission_id);
    return (
      permission !== undefined &&
      ids.has(attachment.role_id) &&
      covers(permission.resource, input.resource_type) &&
      covers(permission.action, input.action)
    );
  });
}

/** Supports the subject forms `*`, `kind:pattern`, `pattern`, `role:slug` and `type:id#relation`, and `eq` conditions on the context. */
function policyApplies(store: Store, policy: PolicyRule, input: CheckInput, now: number): boolean {
  const touches = policy.resources.some((resource) => {
    const [type = '', ...rest] = resource.split(':');
    if (!covers(type, input.resource_type)) return false;
    if (rest.length === 0) return true;
    return input.resource_id ? covers(rest.join(':'), input.resource_id) : rest.join(':') === '*';
  });
  if (!touches || !policy.actions.some((action) => covers(action, input.action))) return false;
  if (!policy.conditions.every(({ field, value }) => input.context?.[field] === value)) return false;
  return policy.subjects.some((subject) => {
    if (subject === '*') return true;
    if (subject.startsWith('role:')) {
      const slugs = [...roleIds(store, input, now)].map(
        (id) => store.roles.find((role) => role.id === id)?.slug,
      );
      return slugs.includes(subject.slice(5));
    }
    const userset = /^(.+):(.+)#(.+)$/.exec(subject);
    if (userset)
      return members(store, input, now).has(nodeText(userset[1] ?? '', userset[2] ?? '', userset[3] ?? ''));
    const [first = '', ...rest] = subject.split(':');
    if (rest.length === 0) return covers(first, input.subject_id);
    return first === input.subject_kind && covers(rest.join(':'), input.subject_id);
  });
}

interface Name {
  readonly expression: Expression;
  readonly subjects: readonly string[] | null;
}

/** Returns every `[type, id, name]` that contains the subject. */
export function members(store: Store, { subject_kind, subject_id }: CheckInput, now: number): Set<string> {
  const types = new Map(
    store.resource_types.map((type) => [
      type.name,
      new Map<string, Name>([
        ...type.relations.map(({ name, expression, subjects }): [string, Name] => [
          name,
          { expression: parseExpression(expression ?? 'this', ''), subjects },
        ]),
        ...type.permissions.map(({ name, expression }): [string, Name] => [
          name,
          { expression: parseExpression(expression, ''), subjects: null },
        ]),
      ]),
    ]),
  );
  const tuples = store.tuples.filter((row) => isLive(row, now));
  const objects = new Map<string, [string, string]>();
  const usedRelations = new Set<string>();
  for (const row of tuples) {
    objects.set(JSON.stringify([row.object_type, row.object_id]), [row.object_type, row.object_id]);
    objects.set(JSON.stringify([row.subject_type, row.subject_id]), [row.subject_type, row.subject_id]);
    usedRelations.add(row.relation);
  }
  const strata = stratify(types);
  const known = new Set<string>();
  for (let stratum = 0; stratum <= strata.highest; stratum++) {
    for (let grew = true; grew;) {
      grew = false;
      for (const [type, id] of objects.values()) {
        for (const name of types.get(type)?.keys() ?? usedRelations) {
          const node = nodeText(type, id, name);
          if (known.has(node) || strata.of(type, name) > stratum) continue;
          if (!holds(types, tuples, known, type, id, name, subject_kind, subject_id)) continue;
          known.add(node);
          grew = true;
        }
      }
    }
  }
  return known;
}

/** Assigns levels: a name lies above everything it excludes, and names of undefined types lie at the bottom. */
function stratify(types: Map<string, Map<string, Name>>) {
  const levels = new Map<string, number>();
  const of = (type: string, name: string) => levels.get(`${type}#${name}`) ?? 0;
  for (let changed = true, rounds = 0; changed; rounds++) {
    changed = false;
    if (rounds > 1_000) throw new Error('exclusion in a cycle');
    for (const [type, names] of types) {
      for (const [name, { expression, subjects }] of names) {
        const level = levelOf(expression, type, subjects ?? [], names, of);
        if (level > of(type, name)) {
          levels.set(`${type}#${name}`, level);
          changed = true;
        }
      }
    }
  }
  return { of, highest: Math.max(0, ...levels.values()) };
}

function levelOf(
  expression: Expression,
  type: string,
  subjects: readonly string[],
  names: Map<string, Name>,
  of: (type: string, name: string) => number,
): number {
  switch (expression.op) {
    case 'this':
      return Math.max(0, ...subjects.map((form) => of(form.split('#')[0] ?? '', form.split('#')[1] ?? '')));
    case 'name':
      return of(type, expression.name);
    case 'arrow':
      return Math.max(
        0,
        ...(names.get(expression.relation)?.subjects ?? []).map((form) =>
          of(form.split('#')[0] ?? '', expression.name),
        ),
      );
    default:
      return Math.max(
        ...expression.terms.map((term, index) => {
          const level = levelOf(term, type, subjects, names, of);
          return expression.op === 'exclusion' && index > 0 ? level + 1 : level;
        }),
      );
  }
}

function holds(
  types: Map<string, Map<string, Name>>,
  tuples: readonly TupleFact[],
  known: ReadonlySet<string>,
  type: string,
  id: string,
  name: string,
  kind: string,
  subject: string,
): boolean {
  const defined = types.get(type)?.get(name);
  const of = (relation: string) =>
    tuples.filter((row) => row.object_type === type && row.object_id === id && row.relation === relation);
  const formOf = (row: TupleFact) =>
    row.subject_type +
    (row.subject_id === '*' ? ':*' : '') +
    (row.subject_relation && `#${row.subject_relation}`);
  const direct = () =>
    of(name)
      .filter((row) => defined === undefined || defined.subjects?.includes(formOf(row)))
      .some((row) =>
        row.subject_relation === ''
          ? row.subject_type === kind && (row.subject_id === subject || row.subject_id === '*')
          : known.has(nodeText(row.subject_type, row.subject_id, row.subject_relation)),
      );
  const value = (expression: Expression): boolean => {
    switch (expression.op) {
      case 'this':
        return direct();
      case 'name':
        return known.has(nodeText(type, id, expression.name));
      case 'arrow':
        return of(expression.relation)
          .filter((row) => row.subject_id !== '*')
          .filter((row) => types.get(type)?.get(expression.relation)?.subjects?.includes(formOf(row)))
          .some((row) => known.has(nodeText(row.subject_type, row.subject_id, expression.name)));
      case 'union':
        return expression.terms.some(value);
      case 'intersection':
        return expression.terms.every(value);
      case 'exclusion':
        return expression.terms.every((term, index) => value(term) === (index === 0));
    }
  };
  return defined === undefined ? direct() : value(defined.expression);
}
