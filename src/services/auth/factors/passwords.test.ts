import { describe, expect, it } from 'vitest';
import { createPasswords } from './passwords.ts';

const cost = { memoryCost: 7168, timeCost: 1, parallelism: 1 };
const passwords = createPasswords(cost);

describe('passwords', () => {
  it('are hashed with argon2id, a salt of 16 bytes and a tag of 32', async () => {
    const hash = await passwords.hash('seven brass wheels');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=7168,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await passwords.verify(hash, 'seven brass wheels')).toBe(true);
    expect(await passwords.verify(hash, 'seven brass Wheels')).toBe(false);
    expect(await passwords.verify(null, 'seven brass wheels')).toBe(false);
  });

  it('are taken byte for byte', async () => {
    const hash = await passwords.hash(' caf\u00e9\n');
    expect(await passwords.verify(hash, ' caf\u00e9\n')).toBe(true);
    for (const other of ['caf\u00e9', ' cafe\u0301\n'])
      expect(await passwords.verify(hash, other)).toBe(false);
  });

  it('a hash of another cost is outdated', async () => {
    const hash = await passwords.hash('seven brass wheels');
    expect(passwords.isOutdated(hash)).toBe(false);
    expect(createPasswords({ ...cost, timeCost: 2 }).isOutdated(hash)).toBe(true);
  });
});
