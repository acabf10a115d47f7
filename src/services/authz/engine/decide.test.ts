import { describe, expect, test } from 'vitest';
import { decide, decideBatch } from './decide.ts';
import {
  assignment,
  check,
  decideAllWith,
  emptyStore,
  fullModel,
  testNow,
  testOptions,
  partialModel,
} from './testing.ts';
import { permission, policy, role, tuple } from './testing.ts';
import type { Store } from './testing.ts';

const rbac: Partial<Store> = {
  roles: [role('editor', 'viewer'), role('viewer')],
  permissions: [permission('document:read')],
  role_permissions: [{ role_id: 'viewer', permission_id: 'perm_document:read' }],
  assignments: [assignment('user:a', 'editor')],
};
const rebac: Partial<Store> = { tuples: [tuple('document:1#read@user:a')] };
const allow = [policy('yes', { priority: -100 })];
const deny = [policy('no', { effect: 'deny', priority: 1_000_000 })];
const deniedByPolicy = [false, 'abac', 'denied by policy "no"'];
const byRole = [true, 'rbac', 'role "editor" (inherited from "viewer") grants "document:read"'];
const byRelation = [true, 'rebac', 'relation "document:1#read" includes user "a"'];

describe('the decision table: explicit deny, role, relation, allow policy, deny by default', () => {
  test.each([
    [
      'nothing',
      {},
      [false, undefined, 'user "a" has no role, relation or policy that grants "document:read"'],
    ],
    ['a deny policy', { policies: deny }, deniedByPolicy],
    ['an allow policy', { policies: allow }, [true, 'abac', 'allowed by policy "yes"']],
    ['a role', rbac, byRole],
    ['a relation', rebac, byRelation],
    ['role and relation', { ...rbac, ...rebac }, byRole],
    ['role and allow policy', { ...rbac, policies: allow }, byRole],
    ['role and deny policy', { ...rbac, policies: deny }, deniedByPolicy],
    ['relation and allow policy', { ...rebac, policies: allow }, byRelation],
    ['relation and deny policy', { ...rebac, policies: deny }, deniedByPolicy],
    ['allow and deny policy', { policies: [...allow, ...deny] }, deniedByPolicy],
    ['role, relation and allow policy', { ...rbac, ...rebac, policies: allow }, byRole],
    ['everything', { ...rbac, ...rebac, policies: [...allow, ...deny] }, deniedByPolicy],
  ])('%s', (_name, parts, [allowed, source, reason]) => {
    const answer = decide(fullModel(emptyStore(parts)), check('user:a read document:1'), testOptions).answer;
    expect(answer).toMatchObject({ allowed, reason, decision: allowed ? 'allow' : 'deny' });
    expect(answer?.sources).toEqual(source === undefined ? [] : [source]);
    expect(answer?.matched_by?.source).toBe(source);
  });
});

test('a relation is no answer to a type-level question', () => {
  const model = fullModel(emptyStore(rebac));
  expect(decide(model, check('user:a read document'), testOptions).answer?.allowed).toBe(false);
});

test('the deny policy that is reported is the first by priority, then by id', () => {
  const deny = (name: string, priority: number) => policy(name, { effect: 'deny', priority });
  const model = fullModel(emptyStore({ policies: [deny('c', 0), deny('b', 5), deny('a', 0)] }));
  expect(decide(model, check('user:a read document:1'), testOptions).answer?.matched_by).toEqual({
    source: 'abac',
    rule_id: 'pol_a',
    detail: 'policy "a"',
  });
});

test('an inactive policy is none', () => {
  const model = fullModel(emptyStore({ policies: [{ ...policy('no'), is_active: false }] }));
  expect(decide(model, check('user:a read document:1'), testOptions).answer?.allowed).toBe(false);
  model.apply([{ revision: 2, entity: 'policy', op: 'put', body: [policy('no')] }]);
  expect(decide(model, check('user:a read document:1'), testOptions).answer?.allowed).toBe(true);
});

test('a reason is cut to 512 characters, never in the middle of one', () => {
  const input = { ...check('user:a read document:1'), subject_id: `x${'😀'.repeat(511)}` };
  const reason = decide(fullModel(emptyStore()), input, testOptions).answer?.reason ?? '';
  expect(reason.length).toBeLessThanOrEqual(512);
  expect(reason.isWellFormed()).toBe(true);
});

test('a batch answers in order and reads each level of all its checks at once', () => {
  const tuples = Array.from({ length: 50 }, (_, n) => [
    tuple(`file:${n}#viewer@group:${n}#member`),
    tuple(`group:${n}#member@user:u${n}`),
  ]).flat();
  const store = emptyStore({ tuples });
  const model = partialModel(store);
  const inputs = Array.from({ length: 60 }, (_, n) => check(`user:u${n} viewer file:${n}`));
  const first = decideBatch(model, inputs, testOptions).missing ?? [];
  expect(first.filter(({ slice }) => slice === 'U')).toHaveLength(60);
  expect(new Set(first.map((key) => JSON.stringify(key))).size).toBe(first.length);
  const answers = decideAllWith(model, store, inputs);
  expect(answers.map(({ allowed }) => allowed)).toEqual(inputs.map((_, n) => n < 50));
});

test('expiry is judged by the time that is given', () => {
  const at = new Date(testNow + 5).toISOString();
  const model = fullModel(emptyStore({ ...rbac, assignments: [assignment('user:a', 'editor', null, at)] }));
  const allowed = (now: number) =>
    decide(model, check('user:a read document'), { ...testOptions, now }).answer?.allowed;
  expect([testNow + 4, testNow + 5, testNow + 6].map(allowed)).toEqual([true, false, false]);
});
