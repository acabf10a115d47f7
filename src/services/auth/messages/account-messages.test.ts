import { describe, expect, it } from 'vitest';
import { initialSettings } from '../directory/first-app.ts';
import { issuerOf, linkOf } from '../directory/issuer.ts';

describe('links', () => {
  const issuer = 'https://auth.example.com/v1/auth';
  it('lead to the hosted page, or to the page of the app', () => {
    expect(linkOf(issuer, { id: 'default', settings: initialSettings }, 'verify_email', 'vrf_1')).toBe(
      `${issuer}/pages/verify-email?token=vrf_1&app_id=default`,
    );
    const links = { ...initialSettings.links, reset_password: 'https://app.example.com/#/reset/{token}' };
    expect(
      linkOf(issuer, { id: 'default', settings: { ...initialSettings, links } }, 'reset_password', 'rst_1'),
    ).toBe('https://app.example.com/#/reset/rst_1');
  });

  it.each([
    [
      { issuer: 'https://id.example.com/v1/auth/', basePath: '/v1/auth' },
      'http://127.0.0.1:4000/auth',
      'https://id.example.com/v1/auth',
    ],
    [
      { issuer: '', basePath: '/v1/auth' },
      'https://plinth.example.com/auth',
      'https://plinth.example.com/auth/v1/auth',
    ],
    [{ issuer: '', basePath: '/x' }, 'http://[::1]:80', 'http://[::1]:80/x'],
  ])('%j at %j: %s', (settings, publicUrl, address) => {
    expect(issuerOf(settings, publicUrl)).toBe(address);
  });
});
