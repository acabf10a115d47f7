import { describe, expect, it } from 'vitest';
import { mergeDocuments, type OpenApi } from './merged-document.ts';

const role = { $ref: '#/components/schemas/Role' };
const document = (title: string): OpenApi => ({
  openapi: '3.1.0',
  info: { title, version: '1.0.0' },
  tags: [{ name: 'Roles' }],
  paths: {
    '/v1/roles': {
      get: { operationId: 'Roles_get', tags: ['Roles'], ...{ responses: { 200: { schema: role } } } },
      post: { operationId: 'Roles_open', tags: ['Roles'], security: [{}] },
    },
  },
  security: [{ Key: [] }],
  components: {
    schemas: { Role: { properties: { parent: role }, examples: [{ $ref: '#/components/schemas/Nobody' }] } },
    securitySchemes: { Key: { type: 'apiKey' } },
  },
});

const merged = mergeDocuments([
  { name: 'one', prefix: '/one', document: document('First') },
  { name: 'two', prefix: '/two', document: document('Second') },
]);

describe('the merged document', () => {
  it('has the paths of each service under its folder', () => {
    expect(Object.keys(merged.paths)).toEqual(['/one/v1/roles', '/two/v1/roles']);
  });

  it('keeps the names of the services apart', () => {
    expect(Object.keys(merged.components['schemas'] ?? {})).toEqual(['one.Role', 'two.Role']);
    expect(merged.tags.map(({ name }) => name)).toEqual(['one.Roles', 'two.Roles']);
    expect(merged.paths['/two/v1/roles']?.['get']).toMatchObject({
      operationId: 'two.Roles_get',
      tags: ['two.Roles'],
    });
  });

  it('refers to the new names, and leaves what only looks like a reference', () => {
    expect(JSON.stringify(merged.paths['/two/v1/roles'])).toContain('"#/components/schemas/two.Role"');
    expect(merged.components['schemas']?.['one.Role']).toEqual({
      properties: { parent: { $ref: '#/components/schemas/one.Role' } },
      examples: [{ $ref: '#/components/schemas/Nobody' }],
    });
  });

  it('asks of each operation for the credentials that its own document asks for', () => {
    const { get, post } = merged.paths['/one/v1/roles'] ?? {};
    expect([get?.security, post?.security]).toEqual([[{ Key: [] }], [{}]]);
    expect(merged.components['securitySchemes']).toEqual({ Key: { type: 'apiKey' } });
  });

  it('shows the tags of a service together', () => {
    expect(merged['x-tagGroups']).toEqual([
      { name: 'First', tags: ['one.Roles'] },
      { name: 'Second', tags: ['two.Roles'] },
    ]);
  });
});
