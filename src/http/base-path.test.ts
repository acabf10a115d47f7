import { describe, expect, it } from 'vitest';
import { servedPath } from './base-path.ts';

describe('the path of an operation', () => {
  const base = { documented: '/v1/auth', served: '/x' };

  it('is that of the contract where the service says nothing else', () => {
    expect(servedPath('/v1/auth/users/{userId}', undefined)).toBe('/v1/auth/users/{userId}');
  });

  it('begins as the service says', () => {
    expect(servedPath('/v1/auth/users/{userId}', base)).toBe('/x/users/{userId}');
    expect(servedPath('/v1/auth/v1/auth', base)).toBe('/x/v1/auth');
  });

  it('has to begin as the contract says', () => {
    expect(() => servedPath('/v1/authors', base)).toThrow('/v1/authors');
  });
});
