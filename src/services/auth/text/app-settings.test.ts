import { describe, expect, it } from 'vitest';
import { cleanSettings } from './app-settings.ts';

const noLinks = { reset_password: null, verify_email: null, invitation: null };

describe('settings are stored in one spelling', () => {
  it.each([
    [{ session_ttl: '90m' }, { session_ttl: '1h30m' }],
    [{ session_ttl: '60s' }, { session_ttl: '1m' }],
    [{ refresh_ttl: '2160h' }, { refresh_ttl: '2160h' }],
    [
      {
        allowed_origins: ['HTTPS://App.Example.com:443', 'https://app.example.com', 'http://localhost:3000'],
      },
      { allowed_origins: ['https://app.example.com', 'http://localhost:3000'] },
    ],
    [{ mail_from: '  Shop <mail@example.com> ' }, { mail_from: 'Shop <mail@example.com>' }],
    [{ mail_from: ' ' }, { mail_from: null }],
    [{ mail_from: null }, { mail_from: null }],
    [{ max_sessions: 3 }, { max_sessions: 3 }],
  ])('%j', (given, stored) => expect(cleanSettings(given, true)).toEqual(stored));

  it('links keep their form', () => {
    const links = { ...noLinks, verify_email: 'https://app.example.com/verify?token={token}&again={token}' };
    expect(cleanSettings({ links }, true)).toEqual({ links });
  });
});

describe('what breaks a rule is named', () => {
  it.each([
    ['settings.session_ttl', { session_ttl: '59s' }],
    ['settings.session_ttl', { session_ttl: '24h1s' }],
    ['settings.session_ttl', { session_ttl: 'soon' }],
    ['settings.refresh_ttl', { refresh_ttl: '59m' }],
    ['settings.refresh_ttl', { refresh_ttl: '2161h' }],
    ['settings.allowed_origins[1]', { allowed_origins: ['https://a.example', 'https://user@b.example'] }],
    ['settings.allowed_origins[0]', { allowed_origins: ['https://a b'] }],
    ['settings.allowed_origins[0]', { allowed_origins: ['https://*.example.com'] }],
    ['settings.links.invitation', { links: { ...noLinks, invitation: 'https://*.example.com/{token}' } }],
    ['settings.allowed_origins[0]', { allowed_origins: ['https://a.example:70000'] }],
    ['settings.mail_from', { mail_from: 'a@example.com\r\nBcc: b@example.com' }],
    ['settings.links.invitation', { links: { ...noLinks, invitation: 'https://{token}.example.com/' } }],
    ['settings.links.invitation', { links: { ...noLinks, invitation: 'https://user:{token}@example.com/' } }],
    [
      'settings.links.verify_email',
      { links: { ...noLinks, verify_email: 'http://app.example.com/{token}' } },
    ],
  ])('%s of %j', (field, given) =>
    expect(() => cleanSettings(given, true)).toThrow(
      expect.objectContaining({ kind: 'invalid', message: expect.stringContaining(`${field}: `) }),
    ),
  );
});

it('http is for loopback hosts, and outside production for all', () => {
  const links = (verify_email: string) => ({ links: { ...noLinks, verify_email } });
  const local = links('http://localhost:3000/verify/{token}');
  const far = links('http://app.example.com/verify/{token}');
  expect(cleanSettings(local, true)).toEqual(local);
  expect(cleanSettings(far, false)).toEqual(far);
});
