import { expect, test } from 'vitest';
import type { Brand } from '../../../../generated/auth/types.ts';
import { lookFrom, plainLook } from './look.ts';

const brand: Brand = {
  ...plainLook(''),
  id: 'brnd_01m7w6qgepfq9s8vb5cppqajgs',
  app_id: 'default',
  org_id: null,
  company_name: '',
  primary_color: '#18181b',
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};
const app = { name: 'Default app' };

test('links have the one colour that a brand chooses', () => {
  const accentOf = (colors: Partial<Brand>) => lookFrom({ ...brand, ...colors }, app).accent_color;
  expect(accentOf({})).toBe('#7c3aed');
  expect(accentOf({ primary_color: '#0f766e' })).toBe('#0f766e');
  expect(accentOf({ primary_color: '#0f766e', accent_color: '#be123c' })).toBe('#be123c');
});

test('a page is named after the company, and without one after the app', () => {
  expect(lookFrom(brand, app).name).toBe('Default app');
  expect(lookFrom({ ...brand, company_name: 'Engines' }, app).name).toBe('Engines');
});
