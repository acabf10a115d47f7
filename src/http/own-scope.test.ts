import { describe, expect, test } from 'vitest';
import { checkUntaken, scopeCheck } from './own-scope.ts';

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

describe('a tenant or an app where the operation takes none', () => {
  const untaken = (operator: boolean, name: string, value: unknown) =>
    checkUntaken({ ...caller, operator }, name, value, 'events[0].');

  test('passes when it is the one in which the caller acts', () => {
    for (const operator of [true, false]) {
      for (const name of ['tenant_id', 'scope_org_id'])
        expect(() => untaken(operator, name, 'acme')).not.toThrow();
      for (const name of ['app_id', 'scope_app_id'])
        expect(() => untaken(operator, name, 'web')).not.toThrow();
    }
    expect(() => untaken(true, 'id', 'any')).not.toThrow();
  });

  test.each(['globex', '', 5, null, ['acme'], { acme: 1 }])('is refused when it is %j', (value) => {
    expect(() => untaken(false, 'tenant_id', value)).toThrow("events[0].tenant_id: not the caller's own");
    expect(() => untaken(true, 'tenant_id', value)).toThrow(
      'events[0].tenant_id: is not taken here; name the tenant with X-Tenant-ID',
    );
    expect(() => untaken(true, 'scope_app_id', value)).toThrow(
      'events[0].scope_app_id: is not taken here; name the app with X-App-ID',
    );
  });
});
