/** The compose file and the unit of systemd name settings that exist, and programs that are there. */
import { access, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadServices, serviceNames } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const modules = await loadServices(serviceNames);

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly read_only?: boolean;
        readonly volumes: readonly string[];
        readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
      }
    >
  >;
}
const compose = parse(await read('compose.yaml')) as Compose;

/** What compose puts in the place of a variable that is not set. */
const withDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

test('the server of the compose file starts with the settings that it is given', () => {
  const { environment, volumes, ...plinth } = compose.services['plinth']!;
  const given = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, withDefaults(value)]),
  );
  const config = readConfig(modules, {}, { ...given, NODE_ENV: 'production', HOST: '0.0.0.0' });
  expect(config.publicUrl).toBe('http://localhost:4000');
  expect(new URL(config.databaseUrl!)).toMatchObject({ hostname: 'database', username: 'plinth' });
  expect(config.rootToken).toBeUndefined();
  expect(plinth.read_only).toBe(true);
  expect(volumes).toEqual(['data:/data']);
  expect(plinth.depends_on).toEqual({ database: { condition: 'service_healthy' } });
});

test('the unit of systemd starts the program that there is', async () => {
  const unit = await read('deploy/plinth.service');
  const [, program = ''] = /^ExecStart=\S+ (\S+) serve$/m.exec(unit) ?? [];
  await access(new URL(`../${program}`, import.meta.url));
  for (const [name] of unit.matchAll(/\bPLINTH_\w+/g))
    expect(() => readConfig(modules, {}, { [name]: '' })).not.toThrow();
});
