/** Patterns, conditions and expressions are compiled when their rule is first needed, and never again for a check. */
import { RE2JS } from 're2js';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { compileRanges } from '../../../lib/addresses.ts';
import { decide, decideBatch } from './decide.ts';
import { parseExpression } from './expression.ts';
import { compileField } from './fields.ts';
import type { Model } from './model.ts';
import { compilePattern, matches } from './pattern.ts';
import {
  assignment,
  check,
  emptyStore,
  fullModel,
  many,
  permission,
  policy,
  role,
  testOptions,
  tuple,
} from './testing.ts';

// Each keeps what it does and counts its calls. Every condition compiles its field.
vi.mock(import('./pattern.ts'), { spy: true });
vi.mock(import('./fields.ts'), { spy: true });
vi.mock(import('./expression.ts'), { spy: true });
vi.mock(import('../../../lib/addresses.ts'), { spy: true });
const compileRegex = vi.spyOn(RE2JS, 'compile');
afterAll(() => compileRegex.mockRestore());

const compilers = {
  patterns: vi.mocked(compilePattern),
  patternsUsedOnce: vi.mocked(matches),
  conditions: vi.mocked(compileField),
  expressions: vi.mocked(parseExpression),
  ranges: vi.mocked(compileRanges),
  regexes: compileRegex,
};
const compiled = () =>
  Object.fromEntries(Object.entries(compilers).map(([kind, { mock }]) => [kind, mock.calls.length]));
const nothing = { patterns: 0, patternsUsedOnce: 0, conditions: 0, expressions: 0, ranges: 0, regexes: 0 };

const conditions = [
  { field: 'mail', operator: 'regex', value: '^[a-z]+@example[.]com$' },
  { field: 'ip', operator: 'ip_in_cidr', value: ['203.0.113.0/24'] },
  { field: 'context.level', operator: 'gte', value: 3 },
  { field: 'subject.id', operator: 'neq', value: { field: 'resource.id' } },
];
const context = { mail: 'ada@example.com', ip: '203.0.113.7', level: 4 };

const type = {
  id: 'rtype_document',
  name: 'document',
  relations: [
    { name: 'owner', subjects: ['user'] },
    { name: 'viewer', subjects: ['user'], expression: 'this + owner' },
  ],
  permissions: [{ name: 'view', expression: 'viewer - (owner & viewer)' }],
};

const model = (): Model =>
  fullModel(
    emptyStore({
      policies: [
        policy('deny', { effect: 'deny', subjects: ['user:x*y*'], conditions }),
        policy('allow', { subjects: ['user:u*1*'], actions: ['re*d'], resources: ['doc*:d*1'], conditions }),
      ],
      resource_types: [type],
      roles: [role('editor')],
      permissions: [permission('doc*:wr*te')],
      role_permissions: [{ role_id: 'editor', permission_id: 'perm_doc*:wr*te' }],
      assignments: [assignment('user:e', 'editor')],
      tuples: [tuple('document:d1#viewer@user:v')],
    }),
  );

const questions = ['user:u11 read document:d1', 'user:e write document:d1', 'user:v view document:d1'];
const asked = (id = '') => questions.map((text) => check(text.replace('d1', `d${id}1`), { context }));
const ask = (of: Model) => asked().map((input) => decide(of, input, testOptions).answer?.allowed);

const forget = () => Object.values(compilers).forEach((compiler) => compiler.mockClear());
beforeEach(forget);

describe('the rules of a tenant', () => {
  test('are compiled by the first check at the latest, each once', () => {
    const rules = model();
    expect(ask(rules)).toEqual([true, true, true]);
    const first = compiled();
    for (const count of Object.values(first)) expect(count).toBeGreaterThan(0);
    // One for each relation and permission, and one for the only expression and the only ranges that a condition evaluated.
    expect(first).toMatchObject({ expressions: 3, ranges: 1 });
  });

  test('are not compiled again for further checks, single or many at once, of the same or other subjects', () => {
    const rules = model();
    ask(rules);
    forget();
    for (let round = 0; round < 20; round++) expect(ask(rules)).toEqual([true, true, true]);
    const inputs = many(50, (n) => asked(String(n))).flat();
    decideBatch(rules, inputs, testOptions);
    expect(compiled()).toEqual(nothing);
  });
});
