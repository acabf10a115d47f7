import { describe, expect, test } from 'vitest';
import { scopeCheck } from './own-scope.ts';

const checkOwnScope = scopeCheck({});
const caller = { tenant: 'acme', app: 'web', operator: false };

describe('a request that names a tenant or an app', () => {
  test.each([
    ['nothing', {}],
    ['its own tenant and app', { tenant_id: 'acme', app_id: 'web' }],
    ['null, which is absence', { tenant_id: null }],
    ['something that is no id: the contract says what is wrong with it', { tenant_id: 5 }],
    ['no object at all', 'acme'],
  ])('passes with %s', (_, named) => {
    expect(() => checkOwnScope(caller, named)).not.toThrow();
  });

  test.each([
    ['tenant_id', { tenant_id: 'globex' }],
    ['app_id', { tenant_id: 'acme', app_id: 'mobile' }],
    ['scope_org_id', { scope_org_id: 'globex' }],
    ['scope_app_id', { scope_app_id: 'mobile' }],
  ])('is refused with a foreign %s, except from the operator', (name, named) => {
    expect(() => checkOwnScope(caller, named)).toThrow(`${name}: not the caller's own`);
    expect(() => checkOwnScope({ ...caller, operator: true }, named)).not.toThrow();
  });
});

test('a service whose tenants are its own resources judges them itself', () => {
  const check = scopeCheck({ ownTenants: true });
  expect(() => check(caller, { tenant_id: 'ten_01h455vb4pex5vsknk084sn02q' })).not.toThrow();
  expect(() => check(caller, { app_id: 'mobile' })).toThrow("app_id: not the caller's own");
});

test('a service whose apps are its own resources judges them itself', () => {
  const check = scopeCheck({ ownApps: true });
  expect(() => check(caller, { app_id: 'mobile' })).not.toThrow();
  expect(() => check(caller, { tenant_id: 'globex' })).toThrow("tenant_id: not the caller's own");
});
