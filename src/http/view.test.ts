import { expect, test } from 'vitest';
import { viewOf } from './view.ts';

const member = { operator: false, tenant: 'acme', app: 'web' };
const operator = { operator: true, tenant: 'default', app: 'web' };

test.each([
  ['a tenant reaches its own records', member, undefined, 'acme'],
  ['a tenant that names itself, too', member, 'acme', 'acme'],
  ['the operator reaches all tenants', operator, undefined, undefined],
  ['the operator reaches the tenant that it names', operator, 'globex', 'globex'],
])('%s', (_, caller, named, tenant) => {
  expect(viewOf(caller, named)).toEqual({ app: 'web', tenant });
});
