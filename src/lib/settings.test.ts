import { expect, test } from 'vitest';
import { choice, duration, integer, readSettings } from './settings.ts';

const table = {
  cache: integer('PLINTH_KEYS_CACHE', 100_000, { min: 0, max: 5_000_000 }),
  staleness: duration('PLINTH_AUTHZ_MAX_STALENESS', '1s', { min: '50ms', max: '60s' }),
  commit: choice('PLINTH_KEYS_COMMIT', 'on', ['on', 'off']),
  interval: duration('PLINTH_AUDIT_RETENTION_INTERVAL', '24h', { min: '1m', max: '720h', orNever: true }),
};

test('unset and empty values have their defaults', () => {
  expect(readSettings(table, { PLINTH_KEYS_CACHE: '' })).toEqual({
    cache: 100_000,
    staleness: 1000,
    commit: 'on',
    interval: 86_400_000,
  });
});

test('values are read as what they are declared to be', () => {
  const environment = {
    PLINTH_KEYS_CACHE: '0',
    PLINTH_AUTHZ_MAX_STALENESS: '1m',
    PLINTH_KEYS_COMMIT: 'off',
    PLINTH_AUDIT_RETENTION_INTERVAL: '0s',
  };
  expect(readSettings(table, environment)).toEqual({
    cache: 0,
    staleness: 60_000,
    commit: 'off',
    interval: 0,
  });
});

test.each([
  [{ PLINTH_KEYS_CACHE: '-1' }, 'PLINTH_KEYS_CACHE must be a whole number from 0 to 5000000'],
  [{ PLINTH_KEYS_CACHE: '1e3' }, 'PLINTH_KEYS_CACHE must be a whole number from 0 to 5000000'],
  [{ PLINTH_KEYS_CACHE: '5000001' }, 'PLINTH_KEYS_CACHE must be a whole number from 0 to 5000000'],
  [{ PLINTH_AUTHZ_MAX_STALENESS: '61s' }, 'PLINTH_AUTHZ_MAX_STALENESS must be a duration from 50ms to 1m'],
  [{ PLINTH_AUTHZ_MAX_STALENESS: 'soon' }, 'PLINTH_AUTHZ_MAX_STALENESS must be a duration from 50ms to 1m'],
  [
    { PLINTH_AUDIT_RETENTION_INTERVAL: '1ms' },
    'PLINTH_AUDIT_RETENTION_INTERVAL must be 0s, or a duration from 1m to 720h',
  ],
  [{ PLINTH_KEYS_COMMIT: 'yes' }, 'PLINTH_KEYS_COMMIT must be one of on, off'],
])('%j stops the start with a sentence that names it', (environment, sentence) => {
  expect(() => readSettings(table, environment)).toThrow(sentence);
});
