/** Runs the README's examples of the audit log as they are printed. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findPostgres, inDatabase } from '../src/testing/postgres.ts';
import { textAfter } from './testing/readme.ts';
import { run, sessionOf, start, stop } from './testing/running.ts';

const postgres = spawnSync('psql', ['--version']).status === 0 ? await findPostgres() : undefined;
// Printed, because reporters do not say why something is left out.
if (postgres === undefined)
  console.warn(
    'examples/readme-audit.test.ts tampers with no event: no psql on PATH, or no PostgreSQL that answers',
  );

/** Runs `use` with a server that has a new database: one of PostgreSQL if somebody can tamper with it, else an embedded one. */
async function onNewDatabase(
  use: (url: string, data: string, databaseUrl: string | undefined) => Promise<void>,
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
  const name = `plinth_readme_${randomBytes(6).toString('hex')}`;
  const databaseUrl = postgres && inDatabase(postgres, name);
  if (postgres !== undefined) await run('psql', ['-q', postgres, '-c', `create database ${name}`]);
  const { url, child } = await start(['serve', 'authz', 'audit'], data, databaseUrl);
  try {
    await use(url, data, databaseUrl);
  } finally {
    await stop(child);
    if (postgres !== undefined)
      await run('psql', ['-q', postgres, '-c', `drop database ${name} with (force)`]);
    await rm(data, { recursive: true });
  }
}

it('the README shows what happened and who did it: recorded, verified, tampered with and named', () =>
  onNewDatabase(async (url, data, databaseUrl) => {
    const place = { $DATABASE_URL: databaseUrl ?? '' };
    const session = await sessionOf(url, data, place);
    const printed = async (language: string) => JSON.parse(await session.run(language)) as unknown;
    const [listed, valid, invalid] = ['sh audit-list', 'sh audit-verify', 'sh audit-tamper'].map(
      (language) => JSON.parse(textAfter(language)) as object,
    );
    await session.run('sh audit');
    await expect
      .poll(() => printed('sh audit-list'), { timeout: 20_000, interval: 200 })
      .toMatchObject(listed!);
    expect(await printed('sh audit-verify')).toMatchObject(valid!);
    expect(await session.run('sh audit-export')).toMatch(/^intact: 1 to \d+, 0 purged, head [0-9a-f]{64}\n$/);
    if (databaseUrl === undefined) return;
    await session.run('sh audit-tamper');
    expect(await printed('sh audit-verify')).toMatchObject(invalid!);
    await (await sessionOf(url, data, { ...place, critical: 'info' })).run('sh audit-tamper');
    expect(await printed('sh audit-verify')).toMatchObject(valid!);
  }));
