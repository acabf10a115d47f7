import { expect, test } from 'vitest';
import { loadServices } from '../app.ts';
import { readConfig } from '../config.ts';
import { settingFindings } from './findings.ts';

const production = {
  NODE_ENV: 'production',
  PLINTH_PUBLIC_URL: 'https://plinth.example.com',
  PLINTH_TRUSTED_PROXY: '127.0.0.1',
  DATABASE_URL: 'postgres://db.example.com/plinth',
  PLINTH_MASTER_KEY: Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64'),
  PLINTH_ROOT_TOKEN: '0123456789abcdef0123456789abcdef',
  PLINTH_AUTH_SMTP_URL: 'smtp://mail.example.com',
};

const modules = await loadServices(['auth', 'authz', 'keys', 'billing']);
const amiss = (environment: Record<string, string>) =>
  settingFindings(readConfig(modules, {}, environment), modules)
    .filter(({ level }) => level !== 'ok')
    .map(({ level, text }) => `${level}: ${text}`);

test('a developer needs nothing, and a complete production is in order', () => {
  expect(amiss({})).toEqual([]);
  expect(amiss(production)).toEqual([]);
});

test.each<[Record<string, string>, RegExp]>([
  [{ PLINTH_PUBLIC_URL: '' }, /^problem: The address .* Set PLINTH_PUBLIC_URL/],
  [{ PLINTH_PUBLIC_URL: 'http://plinth.example.com' }, /^warning: .* without encryption/],
  [{ PLINTH_TRUSTED_PROXY: '' }, /^warning: .* Set PLINTH_TRUSTED_PROXY=127\.0\.0\.1\.$/],
  [{ PLINTH_TRUSTED_PROXY: '', HOST: '0.0.0.0' }, /^warning: .* PLINTH_TRUSTED_PROXY to its address\.$/],
  [
    { PLINTH_TRUSTED_PROXY: '10.0.0.0/8,0.0.0.0/0' },
    /^warning: .* only your proxies in PLINTH_TRUSTED_PROXY/,
  ],
  [{ PLINTH_AUTH_RATE_LIMIT: 'off' }, /^warning: .* Unset PLINTH_AUTH_RATE_LIMIT/],
  [{ PLINTH_AUTH_MAIL: 'outbox' }, /^problem: PLINTH_AUTH_MAIL must not be outbox in production/],
  [{ PLINTH_AUTH_SMS: 'http' }, /^problem: PLINTH_AUTH_SMS is http, so PLINTH_AUTH_SMS_URL must be set\.$/],
  [{ PLINTH_BILLING_PROVIDER: 'card-provider' }, /^problem: PLINTH_BILLING_\w+ must be a secret key/],
  [{ PLINTH_AUTHZ_MAX_STALENESS: '300ms' }, /^problem: PLINTH_AUTHZ_POLL_INTERVAL must be/],
  [{ PLINTH_ALLOW_PRIVATE_TARGETS: 'true' }, /^warning: .* Unset PLINTH_ALLOW_PRIVATE_TARGETS/],
  [{ DATABASE_URL: '' }, /^warning: .* Set DATABASE_URL/],
  [{ PLINTH_MASTER_KEY: '' }, /^warning: .* PLINTH_MASTER_KEY/],
  [{ PLINTH_MASTER_KEY: Buffer.alloc(32).toString('base64') }, /^warning: .* `openssl rand -base64 32`/],
  [{ PLINTH_ROOT_TOKEN: 'secret'.repeat(6) }, /^warning: .* `openssl rand -hex 24`/],
  [{ PLINTH_AUTH_SMTP_URL: '' }, /^warning: .* Set PLINTH_AUTH_SMTP_URL\.$/],
  [{ PLINTH_CORS_ORIGINS: '*' }, /^warning: .* PLINTH_CORS_ORIGINS/],
])('%j is noticed', (change, text) => {
  expect(amiss({ ...production, ...change })).toEqual([expect.stringMatching(text)]);
});

test('requests without credentials are noticed', () => {
  expect(amiss({ PLINTH_ANONYMOUS: 'root' })).toEqual([
    expect.stringMatching(/^warning: .* PLINTH_ANONYMOUS/),
  ]);
});

test('a service that needs one that is nowhere is noticed', () => {
  const [auth] = modules;
  const asking = { ...auth!, asks: { jobs: 'required' as const } };
  expect(settingFindings(readConfig(modules, {}, {}), [asking])).toContainEqual({
    level: 'problem',
    text: expect.stringMatching(/^auth needs jobs: serve jobs in the same process, or set PLINTH_JOBS_URL/),
  });
});
