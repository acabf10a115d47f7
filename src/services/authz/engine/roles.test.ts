import { newEnforcer, newModelFromString } from 'casbin';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Model } from './model.ts';
import { checkRoleParent } from './roles.ts';
import {
  assignment,
  check,
  emptyStore,
  fullModel,
  testNow,
  testOptions,
  permission,
  randomFrom,
  role,
} from './testing.ts';

const allows = (model: Model, text: string, now = testNow) =>
  decide(model, check(text), { ...testOptions, now }).answer?.allowed;
const holding = (assignments: ReturnType<typeof assignment>[], roles = [role('reader')]) =>
  fullModel(
    emptyStore({
      roles,
      permissions: [permission('document:read')],
      role_permissions: [{ role_id: 'reader', permission_id: 'perm_document:read' }],
      assignments,
    }),
  );

describe('scopes', () => {
  test('a role on a resource grants on that resource only, never on the type', () => {
    const model = holding([assignment('user:a', 'reader', 'document:1')]);
    expect(
      ['document:1', 'document:2', 'document', 'file:1'].map((on) => allows(model, `user:a read ${on}`)),
    ).toEqual([true, false, false, false]);
  });

  test('a role on a type grants on the type and on each of its resources', () => {
    const model = holding([assignment('user:a', 'reader', 'document')]);
    expect(['document:1', 'document', 'file'].map((on) => allows(model, `user:a read ${on}`))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('an expired assignment grants nothing from its millisecond on, and grants again when created anew', () => {
    const model = holding([assignment('user:a', 'reader', null, new Date(testNow).toISOString())]);
    expect([testNow - 1, testNow].map((now) => allows(model, 'user:a read document', now))).toEqual([
      true,
      false,
    ]);
    model.apply([{ revision: 2, entity: 'assignment', op: 'put', body: [assignment('user:a', 'reader')] }]);
    expect(allows(model, 'user:a read document')).toBe(true);
    expect(model.factCount).toBe(1);
  });

  test('the narrowest scope is reported first, then the lowest id', () => {
    const roles = ['reader', 'other', 'third'].map((id) => role(id));
    const rows = [
      assignment('user:a', 'reader'),
      assignment('user:a', 'other', 'document:1'),
      assignment('user:a', 'third', 'document:1'),
    ];
    const model = fullModel(
      emptyStore({
        roles,
        permissions: [permission('document:read')],
        role_permissions: roles.map(({ id }) => ({ role_id: id, permission_id: 'perm_document:read' })),
        assignments: rows.reverse(),
      }),
    );
    const by = (text: string) => decide(model, check(text), testOptions).answer?.matched_by?.detail;
    expect([by('user:a read document:1'), by('user:a read document:2')]).toEqual([
      'role "other"',
      'role "reader"',
    ]);
  });
});

test('a default role is held by users, and by nobody else', () => {
  const model = holding([], [role('reader', null, true)]);
  expect([allows(model, 'user:any read document'), allows(model, 'service:any read document')]).toEqual([
    true,
    false,
  ]);
});

test('patterns of permissions match types and actions', () => {
  const grants = (text: string, question: string) => {
    const store = emptyStore({
      roles: [role('r')],
      permissions: [permission(text)],
      role_permissions: [{ role_id: 'r', permission_id: `perm_${text}` }],
      assignments: [assignment('user:a', 'r')],
    });
    return allows(fullModel(store), question);
  };
  expect(grants('doc*:re*', 'user:a read document')).toBe(true);
  expect(grants('doc*:re*', 'user:a write document')).toBe(false);
  expect(grants('*:*', 'user:a anything __proto__')).toBe(true);
  expect(grants('constructor:__proto__', 'user:a __proto__ constructor')).toBe(true);
});

describe('inheritance', () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, n) =>
      role(n === 0 ? 'reader' : `r${n}`, n === 0 ? null : n === 1 ? 'reader' : `r${n - 1}`),
    );

  test('the permissions of 15 ancestors are held too', () => {
    const model = holding([assignment('user:a', 'r15')], chain(16));
    expect(allows(model, 'user:a read document')).toBe(true);
  });

  test('a chain of 16 roles is accepted, one of 17 refused, whichever end grows', () => {
    expect(() => checkRoleParent(chain(15), 'new', 'r14')).not.toThrow();
    expect(() => checkRoleParent(chain(16), 'new', 'r15')).toThrow('parent_id: chain longer than 16');
    expect(() => checkRoleParent([...chain(16), role('top')], 'reader', 'top')).toThrow(
      'parent_id: chain longer than 16',
    );
    expect(() => checkRoleParent([...chain(15), role('top')], 'reader', 'top')).not.toThrow();
  });

  test('a cycle is refused, also one of a role with itself', () => {
    expect(() => checkRoleParent(chain(3), 'reader', 'r2')).toThrow('parent_id: cycle');
    expect(() => checkRoleParent(chain(3), 'r1', 'r1')).toThrow('parent_id: cycle');
    expect(() => checkRoleParent(chain(3), 'r2', 'reader')).not.toThrow();
  });
});

describe('changes', () => {
  test('a deleted role, permission or attachment grants nothing any more', () => {
    const model = holding([assignment('user:a', 'reader')]);
    const attachment = { role_id: 'reader', permission_id: 'perm_document:read' };
    model.apply([{ revision: 2, entity: 'role_permission', op: 'del', body: [attachment] }]);
    expect(allows(model, 'user:a read document')).toBe(false);
    model.apply([{ revision: 3, entity: 'role_permission', op: 'put', body: [attachment] }]);
    expect(allows(model, 'user:a read document')).toBe(true);
    model.apply([{ revision: 4, entity: 'permission', op: 'del', body: [{ id: 'perm_document:read' }] }]);
    expect(allows(model, 'user:a read document')).toBe(false);
    model.apply([{ revision: 5, entity: 'permission', op: 'put', body: [permission('document:read')] }]);
    expect(allows(model, 'user:a read document')).toBe(false);
    model.apply([
      { revision: 6, entity: 'role_permission', op: 'put', body: [attachment] },
      { revision: 7, entity: 'role', op: 'del', body: [{ id: 'reader' }] },
    ]);
    expect(allows(model, 'user:a read document')).toBe(false);
  });
});

test('random roles, permissions and users are decided as casbin decides them', async () => {
  const rules = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && r.obj == p.obj && r.act == p.act`;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = randomFrom(seed);
      const roles = Array.from({ length: 6 }, (_, n) =>
        role(`r${n}`, n > 0 && random(2) === 0 ? `r${random(n)}` : null),
      );
      const texts = ['a:x', 'a:y', 'b:x', 'b:y'];
      const held = roles.flatMap(({ id }) =>
        texts.filter(() => random(5) === 0).map((text) => [id, text] as const),
      );
      const users = Array.from({ length: 6 }, () => [`u${random(4)}`, `r${random(6)}`] as const);
      const enforcer = await newEnforcer(newModelFromString(rules));
      for (const [id, text] of held) await enforcer.addPolicy(id, ...text.split(':'));
      for (const [user, id] of users) await enforcer.addGroupingPolicy(user, id);
      for (const { id, parent_id } of roles)
        if (parent_id !== null) await enforcer.addGroupingPolicy(id, parent_id);
      const model = fullModel(
        emptyStore({
          roles,
          permissions: texts.map(permission),
          role_permissions: held.map(([role_id, text]) => ({ role_id, permission_id: `perm_${text}` })),
          assignments: users.map(([user, id]) => assignment(`user:${user}`, id)),
        }),
      );
      for (const user of ['u0', 'u1', 'u2', 'u3']) {
        for (const text of texts) {
          const [type = '', action = ''] = text.split(':');
          expect(allows(model, `user:${user} ${action} ${type}`)).toBe(
            await enforcer.enforce(user, type, action),
          );
        }
      }
    }),
    { numRuns: 100 },
  );
}, 60_000);
