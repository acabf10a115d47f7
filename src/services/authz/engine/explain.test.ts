import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from './explain.ts';
import { judge } from './oracle.ts';
import { randomCheck, randomStore } from './random-store.ts';
import {
  assignment,
  check,
  decideWith,
  emptyStore,
  fullModel,
  testNow,
  testOptions,
  partialModel,
} from './testing.ts';
import { permission, policy, randomFrom, resolve, role, tuple } from './testing.ts';
import type { Store } from './testing.ts';
import type { CheckInput, Explanation, Hint } from './types.ts';

const explainWith = (store: Store, input: CheckInput, model = fullModel(store)): Explanation =>
  resolve(model, store, () => explain(model, input, testOptions));

/** Returns the store after the change that a hint suggests. */
function applied(store: Store, input: CheckInput, hint: Hint): Store {
  const subject = `${input.subject_kind}:${input.subject_id}`;
  if (hint.kind === 'role') {
    return {
      ...store,
      assignments: [...store.assignments.filter(isNotExpired), assignment(subject, hint.id)],
    };
  }
  if (hint.kind === 'relation')
    return { ...store, tuples: [...store.tuples.filter(isNotExpired), tuple(hint.detail)] };
  return {
    ...store,
    policies: store.policies.map((each) => (each.id === hint.id ? { ...each, conditions: [] } : each)),
  };
}

const isNotExpired = (fact: { expires_at: string | null }) =>
  fact.expires_at === null || Date.parse(fact.expires_at) > testNow;

test('an explanation has the verdict of the check, a valid proof, and hints that work, in both modes', () => {
  const kinds = new Set<string>();
  const worlds = fc.property(fc.integer(), (seed) => {
    const random = randomFrom(seed);
    const store = randomStore(random);
    const input = randomCheck(random);
    const explanation = explainWith(store, input);
    const { steps, path, missing, ...decision } = explanation;
    expect(decision).toEqual(decideWith(fullModel(store), store, input));
    expect(explainWith(store, input, partialModel(store))).toEqual(explanation);
    expect(steps.length).toBeLessThanOrEqual(50);

    const proven = { ...store, tuples: store.tuples.filter((row) => path.includes(textOf(row))) };
    const withoutOthers = { ...proven, policies: [], assignments: [], roles: [] };
    const provesAlone = !store.resource_types.some((type) => JSON.stringify(type).includes(' - '));
    if (path.length > 0 && provesAlone)
      expect(judge(withoutOthers, input, testNow)).toEqual({ allowed: true, source: 'rebac' });
    expect(path.length > 0).toBe(
      steps.some(({ source, result }) => source === 'rebac' && result === 'allow'),
    );

    if (decision.allowed) expect(missing).toEqual([]);
    const denying = decision.sources[0] === 'abac' && !decision.allowed;
    for (const hint of missing) {
      kinds.add(hint.kind);
      if (denying) expect(hint.id).toBe(decision.matched_by?.rule_id);
      else expect(judge(applied(store, input, hint), input, testNow).allowed).toBe(true);
    }
  });
  fc.assert(worlds, { numRuns: 700 });
  // A sample may lack a kind of hint; these worlds have all of them.
  fc.assert(worlds, { numRuns: 300, seed: 20261126 });
  expect([...kinds].sort()).toEqual(['condition', 'policy', 'relation', 'role']);
}, 60_000);

const textOf = (row: ReturnType<typeof tuple>) =>
  `${row.object_type}:${row.object_id}#${row.relation}@${row.subject_type}:${row.subject_id}` +
  (row.subject_relation && `#${row.subject_relation}`);

describe('what an explanation says', () => {
  test('the path is the shortest proof, from the resource to the subject', () => {
    const long = [
      'document:1#viewer@group:a#member',
      'group:a#member@group:b#member',
      'group:b#member@user:x',
    ];
    const short = ['document:1#viewer@group:c#member', 'group:c#member@user:x'];
    const store = emptyStore({ tuples: [...long, ...short].map((text) => tuple(text)) });
    expect(explainWith(store, check('user:x viewer document:1')).path).toEqual(short);
  });

  test('the roles with the fewest permissions come first, and a role that a policy denies is not among them', () => {
    const names = ['big', 'small', 'denied', 'middle', 'other'];
    const store = emptyStore({
      roles: names.map((name) => role(name)),
      permissions: ['document:read', 'document:write', 'document:share'].map(permission),
      role_permissions: [
        ...names.map((role_id) => ({ role_id, permission_id: 'perm_document:read' })),
        { role_id: 'middle', permission_id: 'perm_document:write' },
        { role_id: 'other', permission_id: 'perm_document:write' },
        { role_id: 'big', permission_id: 'perm_document:write' },
        { role_id: 'big', permission_id: 'perm_document:share' },
      ],
      policies: [policy('no', { effect: 'deny', subjects: ['role:denied'] })],
    });
    const { missing, steps } = explainWith(store, check('user:x read document'));
    expect(missing.map(({ id }) => id)).toEqual(['small', 'middle', 'other']);
    expect(steps).toEqual([
      { source: 'rbac', result: 'no_match', rule_id: '', detail: 'no roles' },
      { source: 'rebac', result: 'no_match', rule_id: '', detail: 'no resource id' },
    ]);
  });

  test('a deny names the policy and its conditions; an allow that failed names the condition that did', () => {
    const conditions = [
      { field: 'mode', operator: 'exists' },
      { field: 'level', operator: 'gt', value: 3 },
    ];
    const denied = explainWith(
      emptyStore({ policies: [policy('no', { effect: 'deny', conditions })] }),
      check('user:x read document:1', { context: { mode: 'x', level: 4 } }),
    );
    expect(denied.missing).toEqual([
      { kind: 'policy', id: 'pol_no', detail: 'policy "no"' },
      { kind: 'condition', id: 'pol_no', detail: 'conditions[0]: mode exists' },
      { kind: 'condition', id: 'pol_no', detail: 'conditions[1]: level gt' },
    ]);
    const failed = explainWith(
      emptyStore({ policies: [policy('yes', { conditions })] }),
      check('user:x read document', { context: { mode: 'x', level: 3 } }),
    );
    expect(failed.missing).toEqual([{ kind: 'condition', id: 'pol_yes', detail: 'conditions[1]: level' }]);
    expect(failed.steps.at(-1)).toEqual({
      source: 'abac',
      result: 'no_match',
      rule_id: 'pol_yes',
      detail: 'policy "yes": conditions[1] does not hold',
    });
  });

  test('trying the hints leaves the facts as they were', () => {
    const expired = new Date(testNow).toISOString();
    const store = emptyStore({
      roles: [role('reader')],
      permissions: [permission('file:viewer')],
      role_permissions: [{ role_id: 'reader', permission_id: 'perm_file:viewer' }],
      tuples: [tuple('file:1#viewer@user:a', expired)],
      assignments: [assignment('user:a', 'reader', null, expired)],
    });
    const model = fullModel(store);
    const before = [model.factCount, model.facts.bytes];
    const { missing } = explainWith(store, check('user:a viewer file:1'), model);
    expect(missing.map(({ kind }) => kind)).toEqual(['role', 'relation']);
    expect([model.factCount, model.facts.bytes]).toEqual(before);
    expect(decideWith(model, store, check('user:a viewer file:1')).allowed).toBe(false);
    expect(
      decideWith(model, store, check('user:a viewer file:1'), { ...testOptions, now: testNow - 1 }).matched_by
        ?.rule_id,
    ).toBe('perm_file:viewer');
  });
});
