import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { events } from '../../auth/directory/events.ts';
import { isPlatformType } from './platform-types.ts';

const services = new URL('../../', import.meta.url);
/** Storage and sync emit most of their events in SQL. */
const literal = /'((?:storage|sync)\.[a-z]+\.[a-z_]+)'/g;
const emission = /(?:emit\(\s*|\btype: |\bemits: )['`]([a-z_]+\.[a-z0-9_]+(?:\.[a-z_]+)?)['`]/g;

it('knows every event that a service emits', () => {
  const found = [
    'auth',
    'authz',
    'keys',
    'webhooks',
    'audit',
    'safety',
    'billing',
    'storage',
    'sync',
  ].flatMap((service) =>
    readdirSync(new URL(`${service}/`, services), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|sql)$/.test(file) && !file.includes('test'))
      .flatMap((file) => [
        ...readFileSync(new URL(`${service}/${file}`, services), 'utf8').matchAll(
          file.endsWith('.sql') ? literal : emission,
        ),
      ])
      .map(([, name]) => name!)
      // The types of findings look like those of events.
      .filter((name) => service !== 'safety' || name.startsWith('safety.')),
  );
  expect(found.length).toBeGreaterThan(50);
  expect([...Object.keys(events), ...found].filter((name) => !isPlatformType(name))).toEqual([]);
});
