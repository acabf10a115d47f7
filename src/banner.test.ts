import { describe, expect, it } from 'vitest';
import { bannerOf } from './banner.ts';
import { readConfig } from './config.ts';
import type { ServiceModule } from './http/service.ts';
import { createSealer } from './lib/seal.ts';
import { settings } from './services/auth/settings.ts';

/** The members of a service that the start reads, without the code that serves requests. */
const modules = [
  { name: 'auth', settings },
  { name: 'keys', settings: {} },
] as unknown as readonly ServiceModule[];
const token = 't'.repeat(43);
const url = 'http://127.0.0.1:4000';
const publicUrl = 'https://plinth.example.com';
const file = '.plinth/root-token';

const banner = (environment: Record<string, string>) =>
  bannerOf({
    config: readConfig(modules, {}, environment),
    modules,
    root: { token, file, isNew: true },
    sealer: createSealer(Buffer.alloc(32, 7)),
    url,
    engine: 'pglite',
  });

/** Returns the differences from a developer's machine, one sentence each, after the reason why this is production. */
const differences = [
  `  Tokens and links name ${publicUrl} (PLINTH_PUBLIC_URL).`,
  '  Requests are limited by address (PLINTH_AUTH_RATE_LIMIT).',
  '  Messages to users are not kept to be read: without a mail server they wait (PLINTH_AUTH_SMTP_URL, PLINTH_AUTH_SMS_URL).',
  '  Private addresses are refused where users name targets (PLINTH_ALLOW_PRIVATE_TARGETS).',
  `  ${url}/metrics answers this machine, and others with a credential of the operator that holds metrics:read.`,
];

describe('the start of a server in production', () => {
  it.each([
    [{ NODE_ENV: 'production' }, '  This is production, as NODE_ENV says.'],
    [{ HOST: '0.0.0.0' }, '  This is production, because other machines reach 0.0.0.0.'],
  ])('says why it is and what that means, in a sentence each: %j', (environment, why) => {
    const lines = banner({ ...environment, PLINTH_PUBLIC_URL: publicUrl });
    expect(lines.slice(lines.indexOf(why))).toEqual([why, ...differences]);
    expect(lines).toContain(`  root token in ${file}`);
    expect(lines.join('\n')).not.toContain(token);
  });

  it('says what was set otherwise, and nothing about services that it does not have', () => {
    const production = { NODE_ENV: 'production', PLINTH_PUBLIC_URL: publicUrl };
    const own = banner({
      ...production,
      PLINTH_AUTH_RATE_LIMIT: 'off',
      PLINTH_ALLOW_PRIVATE_TARGETS: 'true',
    });
    expect(own).toContain('  Requests are not limited by address (PLINTH_AUTH_RATE_LIMIT).');
    expect(own).toContain(
      '  Private addresses are accepted where users name targets (PLINTH_ALLOW_PRIVATE_TARGETS).',
    );
    const alone = banner({ ...production, PLINTH_SERVICES: 'keys' });
    expect(alone.slice(-4)).toEqual([
      '  This is production, as NODE_ENV says.',
      ...[differences[0], differences[3], differences[4]],
    ]);
  });
});

it('the start on a developer’s machine says none of it, and shows a new root token', () => {
  const lines = banner({ PLINTH_PUBLIC_URL: publicUrl });
  expect(lines).toContain(`  root token ${token}`);
  for (const sentence of ['This is production', ...differences.map((line) => line.trim())])
    expect(lines.join('\n')).not.toContain(sentence);
});
