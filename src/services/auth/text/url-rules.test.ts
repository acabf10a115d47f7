import { expect, it } from 'vitest';
import { cleanUrl } from './url-rules.ts';

it.each<[string, boolean, string]>([
  ['https://cdn.example.com/a.png', true, 'https://cdn.example.com/a.png'],
  ['https://CDN.example.com/a b', true, 'https://cdn.example.com/a%20b'],
  ['http://cdn.example.com/', false, 'http://cdn.example.com/'],
  ['http://localhost:3000/a', true, 'http://localhost:3000/a'],
  ['http://127.0.0.1/a', true, 'http://127.0.0.1/a'],
  ['http://[::1]/a', true, 'http://[::1]/a'],
])('%s (production: %j) is kept as %s', (text, production, kept) => {
  expect(cleanUrl('logo', text, production)).toBe(kept);
});

it.each<[string, boolean, string]>([
  ['javascript:alert(1)', false, 'logo: must be a URL like https://app.example.com/'],
  ['data:image/png;base64,AA==', false, 'logo: must be a URL like https://app.example.com/'],
  ['https://ada:secret@example.com/', false, 'logo: must be a URL like https://app.example.com/'],
  ['http://cdn.example.com/', true, 'logo: must be https'],
  ['https://*.example.com/logo.png', false, 'logo: must not hold a wildcard'],
  ['http://127.0.0.1.example.com/', true, 'logo: must be https'],
])('%s (production: %j) is refused', (text, production, message) => {
  expect(() => cleanUrl('logo', text, production)).toThrow(message);
});
