import { describe, expect, it } from 'vitest';
import type { Document } from '../contract.ts';
import { compare } from './compare.ts';
import type { DocumentedOperation, DocumentedService } from './facts.ts';

const schema = { type: 'string' };
const document: Document = {
  paths: {
    '/v1/roles/{id}': {
      put: {
        operationId: 'Roles_update',
        parameters: [
          { name: 'id', in: 'path', required: true, schema },
          { name: 'dry', in: 'query', schema },
        ],
        requestBody: { content: { 'application/json': { schema: { properties: { name: schema } } } } },
        responses: {
          200: {
            content: { 'application/json': { schema: { items: { $ref: '#/components/schemas/Role' } } } },
          },
          409: { content: { 'application/json': { schema: { properties: { code: { enum: ['taken'] } } } } } },
        },
      },
    },
  },
  components: { schemas: { Role: { properties: { owner: { allOf: [{ properties: { id: schema } }] } } } } },
};

const stated: DocumentedOperation = {
  method: 'PUT',
  path: '/v1/roles/{id}',
  query: ['dry'],
  headers: [],
  request: ['name'],
  required: [],
  response: ['owner', 'owner.id'],
  success: [200],
  errors: [409],
  codes: ['409 taken'],
};

const service: DocumentedService = { errors: [409], codes: [], envelope: ['code'], operations: [stated] };
const missing = (facts: Partial<DocumentedOperation>) =>
  compare({ ...service, operations: [{ ...stated, ...facts }] }, document, () => undefined).missing;

describe('comparing a contract with the facts', () => {
  it('finds nothing when it has them all', () => expect(missing({})).toEqual([]));

  it.each<[string, Partial<DocumentedOperation>]>([
    ['query parameter search', { query: ['dry', 'search'] }],
    ['header X-Signature', { headers: ['X-Signature'] }],
    ['request field name.first', { request: ['name.first'] }],
    ['requirement of name', { required: ['name'] }],
    ['response field id', { response: ['id'] }],
    ['response field owner.name', { response: ['owner.name'] }],
    ['status 201', { success: [201] }],
    ['status 404', { errors: [404] }],
    ['409 stolen', { codes: ['409 stolen'] }],
    ['404 taken', { codes: ['404 taken'] }],
  ])('says that there is no %s', (lack, facts) => {
    expect(missing(facts)).toEqual([`PUT /v1/roles/{id}: no ${lack}`]);
  });

  it.each(['/v1/roles', '/v1/roles/{roleId}', '/v1/roles/{+id}'])('says that it lacks %s', (path) => {
    expect(missing({ path })).toEqual([`PUT ${path}: no such operation`]);
  });

  it('follows a renamed path, and says that it did', () => {
    const facts = { ...service, operations: [{ ...stated, path: '/v1/roles/{role}' }] };
    expect(compare(facts, document, () => '/v1/roles/{id}')).toEqual({
      missing: [],
      renamed: ['/v1/roles/{role}'],
    });
  });

  it('says what no operation answers', () => {
    const facts = { ...service, errors: [409, 500], codes: ['409 gone'] };
    expect(compare(facts, document, () => undefined).missing).toEqual([
      'any operation: no status 500 with code',
      'any operation: no 409 gone',
    ]);
  });
});
