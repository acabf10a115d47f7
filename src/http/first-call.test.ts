import { expect, test } from 'vitest';
import { firstCall } from './first-call.ts';

const operation = (operationId: string, more: object = {}) => ({
  get: { operationId, tags: [], summary: `Does ${operationId}`, ...more },
});

test('it is the first list that needs nothing but a token', () => {
  const paths = {
    '/v1/health': operation('Health_get'),
    '/v1/keys': operation('Keys_list', { security: [{}] }),
    '/v1/users/{userId}/roles': operation('UserRoles_list'),
    '/v1/members': operation('Members_list', { parameters: [{ required: true }] }),
    '/v1/roles': operation('Roles_list', { parameters: [{ required: false }] }),
    '/v1/teams': operation('Teams_list'),
  };
  const parts = [
    { prefix: '/none', document: { paths: {} } },
    { prefix: '/authz', document: { paths } },
  ];
  expect(firstCall(parts)).toEqual({ path: '/authz/v1/roles', summary: 'Does Roles_list' });
  expect(firstCall(parts.slice(0, 1))).toBeUndefined();
});
