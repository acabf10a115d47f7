import { createLinterRuleTester, createTester } from '@typespec/compiler/testing';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { boundedRule } from './rules/bounded.js';
import { casingRule } from './rules/casing.js';
import { documentedRule } from './rules/documented.js';
import { exampleRule } from './rules/example.js';
import { failuresRule } from './rules/failures.js';
import { listLimitRule } from './rules/list-limit.js';
import { taggedRule } from './rules/tagged.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tester = createTester(root, { libraries: ['@typespec/http'] })
  .importLibraries()
  .using('TypeSpec.Http');

const failures = [400, 401, 403, 413, 415].map((status) => `{ @statusCode _: ${status} }`).join(' | ');

const table = [
  { rule: boundedRule, name: 'accepts a bounded text', code: 'model A { @maxLength(5) name: string }' },
  {
    rule: boundedRule,
    name: 'accepts a text bounded by its scalar',
    code: '@maxLength(5) scalar S extends string; model A { name?: S | null }',
  },
  { rule: boundedRule, name: 'refuses an endless text', code: 'model A { name: string }', breaks: true },
  {
    rule: boundedRule,
    name: 'refuses a number with one bound',
    code: 'model A { @minValue(1) count: int32 }',
    breaks: true,
  },
  { rule: boundedRule, name: 'refuses an endless array', code: 'model A { names: boolean[] }', breaks: true },
  { rule: casingRule, name: 'accepts snake_case members', code: 'model A { created_at: boolean }' },
  {
    rule: casingRule,
    name: 'refuses camelCase members',
    code: 'model A { createdAt: boolean }',
    breaks: true,
  },
  {
    rule: casingRule,
    name: 'refuses a path parameter in snake_case',
    code: '@route("/a") op a(@path role_id: string): void;',
    breaks: true,
  },
  {
    rule: documentedRule,
    name: 'accepts what is documented',
    code: '/** An a. */ model A { /** Its b. */ b: boolean }',
  },
  {
    rule: documentedRule,
    name: 'refuses a silent member',
    code: '/** An a. */ model A { b: boolean }',
    breaks: true,
  },
  {
    rule: exampleRule,
    name: 'accepts a model with an example',
    code: '@example(#{ b: true }) model A { b: boolean }',
  },
  { rule: exampleRule, name: 'refuses a model without one', code: 'model A { b: boolean }', breaks: true },
  {
    rule: failuresRule,
    name: 'accepts an operation that says how it fails',
    code: `interface As { @post a(@body b: boolean): void | ${failures}; }`,
  },
  {
    rule: failuresRule,
    name: 'refuses an operation that says nothing',
    code: 'interface As { @post a(@body b: boolean): void; }',
    breaks: true,
  },
  {
    rule: listLimitRule,
    name: 'accepts a bounded list',
    code: 'interface As { @get list(@query @maxValue(9) limit?: int32 = 5): boolean[]; }',
  },
  {
    rule: listLimitRule,
    name: 'refuses a list without a limit',
    code: 'interface As { @get list(): boolean[]; }',
    breaks: true,
  },
  { rule: taggedRule, name: 'accepts an interface tagged with its name', code: '@tag("As") interface As {}' },
  { rule: taggedRule, name: 'refuses an interface without a tag', code: 'interface As {}', breaks: true },
];

describe('the house rules of the contract', () => {
  it.each(table)('$rule.name $name', async ({ rule, code, breaks }) => {
    const instance = await tester.createInstance();
    const result = createLinterRuleTester(instance, rule, '@plinth/spec-lint').expect(code);
    if (!breaks) return result.toBeValid();
    return result.toEmitDiagnostics({ code: `@plinth/spec-lint/${rule.name}` });
  });
});
