import { describe, expect, test } from 'vitest';
import { checkPublicUrl, isLoopback, readConfig } from './config.ts';
import { integer } from './lib/settings.ts';

const keys = { name: 'keys', settings: { cache: integer('PLINTH_KEYS_CACHE', 10, { min: 0, max: 100 }) } };
const authz = { name: 'authz', settings: {} };
const read = (environment: Record<string, string>, flags = {}) =>
  readConfig([authz, keys], flags, environment);

test('everything has a default', () => {
  const { settingsOf, ...config } = read({});
  expect(config).toEqual({
    host: '127.0.0.1',
    port: 4000,
    publicUrl: undefined,
    dataDir: '.plinth',
    minFreeMb: 64,
    databaseUrl: undefined,
    rootToken: undefined,
    masterKey: undefined,
    previousMasterKey: undefined,
    allowPrivateTargets: true,
    strict: false,
    anonymousRoot: false,
    exportsSpans: false,
    services: ['authz', 'keys'],
    workers: 1,
    operator: { tenant: 'default', app: 'default' },
    remotes: {},
    trustedProxy: [],
    corsOrigins: [],
    production: false,
    databaseConnections: 20,
    drainMs: 0,
    logLevel: 'info',
  });
  expect(settingsOf(keys)).toEqual({ cache: 10 });
  expect(Object.isFrozen(read({}))).toBe(true);
});

test('the environment is read', () => {
  const config = read({
    HOST: '::1',
    PORT: '0',
    DATABASE_URL: 'postgres://user:secret@db:5432/plinth',
    PLINTH_ROOT_TOKEN: 'r'.repeat(32),
    PLINTH_CONTRACT: 'strict',
    PLINTH_ANONYMOUS: 'root',
    PLINTH_SERVICES: 'keys',
    PLINTH_WORKERS: '4',
    PLINTH_TRUSTED_PROXY: '10.0.0.0/8, fd00::/8,192.0.2.1',
    PLINTH_CORS_ORIGINS: 'https://app.example.com, http://localhost:5173',
    PLINTH_AUTHZ_URL: 'https://authz.internal/',
    PLINTH_AUTHZ_TOKEN: 'token',
    PLINTH_KEYS_CACHE: '7',
  });
  expect(config).toMatchObject({
    host: '::1',
    port: 0,
    databaseUrl: 'postgres://user:secret@db:5432/plinth',
    rootToken: 'r'.repeat(32),
    strict: true,
    anonymousRoot: true,
    services: ['keys'],
    workers: 4,
    trustedProxy: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
    corsOrigins: ['https://app.example.com', 'http://localhost:5173'],
    remotes: { authz: { url: 'https://authz.internal', token: 'token' } },
  });
  expect(config.settingsOf(keys)).toEqual({ cache: 7 });
});

test('the command line wins over the environment', () => {
  const flags = { port: '1', host: 'localhost', data: '/data', services: ['keys'] };
  const config = read({ PORT: '2', HOST: 'a', PLINTH_DATA_DIR: 'b', PLINTH_SERVICES: 'authz' }, flags);
  expect(config).toMatchObject({ port: 1, host: 'localhost', dataDir: '/data', services: ['keys'] });
});

describe('a bad value stops the start with a sentence that names it', () => {
  test.each([
    [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535'],
    [{ PORT: 'http' }, 'PORT must be a whole number from 0 to 65535'],
    [
      { DATABASE_URL: 'mysql://secret@db' },
      'DATABASE_URL must be a URL like postgres://user:password@host:5432/database',
    ],
    [{ PLINTH_ROOT_TOKEN: 'secret' }, 'PLINTH_ROOT_TOKEN must be at least 32 visible ASCII characters'],
    [{ PLINTH_CONTRACT: 'loose' }, 'PLINTH_CONTRACT must be one of fast, strict'],
    [{ PLINTH_ANONYMOUS: 'yes' }, 'PLINTH_ANONYMOUS must be "root" or unset'],
    [
      { PLINTH_ANONYMOUS: 'root', HOST: '0.0.0.0' },
      'PLINTH_ANONYMOUS must be unset unless HOST is a loopback address, and it is 0.0.0.0',
    ],
    [
      { PLINTH_ANONYMOUS: 'root', NODE_ENV: 'production' },
      'PLINTH_ANONYMOUS must be unset when NODE_ENV is production',
    ],
    [
      { PLINTH_SERVICES: 'keys,auth' },
      'PLINTH_SERVICES names the service auth, the services are authz, keys',
    ],
    [{ PLINTH_WORKERS: '2' }, 'PLINTH_WORKERS must be 1 without DATABASE_URL'],
    [{ PLINTH_OPERATOR_TENANT: 'a b' }, 'PLINTH_OPERATOR_TENANT must be 1-64 characters of A-Za-z0-9._-'],
    [{ PLINTH_OPERATOR_APP: 'a/b' }, 'PLINTH_OPERATOR_APP must be 1-64 characters of A-Za-z0-9._-'],
    [{ PLINTH_TRUSTED_PROXY: '10.0.0.0/33' }, 'PLINTH_TRUSTED_PROXY must be addresses and CIDRs'],
    [{ PLINTH_TRUSTED_PROXY: 'proxy' }, 'PLINTH_TRUSTED_PROXY must be addresses and CIDRs'],
    [{ PLINTH_KEYS_URL: 'http://keys' }, 'PLINTH_KEYS_URL and PLINTH_KEYS_TOKEN must be set together'],
    [{ PLINTH_LOG: 'loud' }, 'PLINTH_LOG must be one of fatal, error, warn, info, debug, trace, silent'],
    [{ PLINTH_PUBLIC_URL: 'plinth.example.com' }, 'PLINTH_PUBLIC_URL must be an http or https URL'],
    [
      { PLINTH_PUBLIC_URL: 'https://user@plinth.example.com' },
      'PLINTH_PUBLIC_URL must be an http or https URL',
    ],
    [
      { PLINTH_DATABASE_CONNECTIONS: '7' },
      'PLINTH_DATABASE_CONNECTIONS must be a whole number from 8 to 500',
    ],
    [{ PLINTH_DRAIN: '6m' }, 'PLINTH_DRAIN must be a duration from 0s to 5m'],
    [{ PLINTH_PORT: '5000' }, 'PLINTH_PORT is not a setting; the nearest one is PORT'],
    [{ PLINTH_DATABASE_URL: 'x' }, 'PLINTH_DATABASE_URL is not a setting; the nearest one is DATABASE_URL'],
    [{ PLINTH_REDIS_URI: 'x' }, 'PLINTH_REDIS_URI is not a setting; the nearest one is PLINTH_'],
    [{ PLINTH_KEY_CACHE: '1' }, 'PLINTH_KEY_CACHE is not a setting; the nearest one is PLINTH_KEYS_CACHE'],
    [{ PLINTH_KEYS_CACHE: '101' }, 'PLINTH_KEYS_CACHE must be a whole number from 0 to 100'],
  ])('%j', (environment: Record<string, string>, sentence) => {
    expect(() => read(environment)).toThrow(sentence);
  });

  test('without repeating a secret', () => {
    const secrets = {
      DATABASE_URL: 'x://u:hunter2@db',
      PLINTH_ROOT_TOKEN: 'hunter2',
      PLINTH_KEYS_TOKEN: 'hunter2 ',
    };
    for (const [name, value] of Object.entries(secrets))
      expect(() => read({ [name]: value })).toThrow(/^(?!.*hunter2)/);
  });
});

describe('production', () => {
  const settings = (environment: Record<string, string>) => {
    const { production, allowPrivateTargets } = read(environment);
    return { production, allowPrivateTargets };
  };

  test.each<[Record<string, string>, object]>([
    [{}, { production: false, allowPrivateTargets: true }],
    [{ HOST: '0.0.0.0' }, { production: true, allowPrivateTargets: false }],
    [{ HOST: '10.0.0.1' }, { production: true, allowPrivateTargets: false }],
    [{ NODE_ENV: 'production' }, { production: true, allowPrivateTargets: false }],
    [
      { HOST: '::', PLINTH_ALLOW_PRIVATE_TARGETS: 'true' },
      { production: true, allowPrivateTargets: true },
    ],
    [
      { HOST: '::1', NODE_ENV: 'test' },
      { production: false, allowPrivateTargets: true },
    ],
  ])('%j', (environment, expected) => {
    expect(settings(environment)).toEqual(expected);
  });

  test.each([
    [
      { HOST: '0.0.0.0' },
      'PLINTH_PUBLIC_URL must be set, since HOST is 0.0.0.0, which other machines reach: ',
    ],
    [{ NODE_ENV: 'production' }, 'PLINTH_PUBLIC_URL must be set, since NODE_ENV is production: '],
  ])('%j needs the public address', (environment, sentence) => {
    expect(() => checkPublicUrl(read(environment))).toThrow(sentence);
    const named = read({ ...environment, PLINTH_PUBLIC_URL: 'https://plinth.example.com/' });
    expect(() => checkPublicUrl(named)).not.toThrow();
    expect(named.publicUrl).toBe('https://plinth.example.com');
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['example.com', false],
])('%s is loopback: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test.each(['*', 'https://app.example.com', 'http://localhost:5173, *'])('%s is taken as origins', (value) => {
  expect(read({ PLINTH_CORS_ORIGINS: value }).corsOrigins).toEqual(value.split(', '));
});

test.each([
  'app.example.com',
  'https://app.example.com/',
  'https://a.test:443',
  'ftp://a.test',
  'null',
  '*.a.test',
])('%s is no origin that a browser sends, and refused', (value) => {
  expect(() => read({ PLINTH_CORS_ORIGINS: value })).toThrow(
    'PLINTH_CORS_ORIGINS must be * or origins like https://app.example.com, separated by commas',
  );
});
