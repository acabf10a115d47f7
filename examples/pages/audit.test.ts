/** Runs docs/services/audit.md as it is printed. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPostgres, inDatabase } from '../../src/testing/postgres.ts';
import { jsonForm } from '../testing/forms.ts';
import { readPage } from '../testing/pages.ts';
import { run } from '../testing/processes.ts';
import { readerOf } from '../testing/reader.ts';
import { startPageServer, type PageServer } from '../testing/setup.ts';

const page = await readPage('docs/services/audit.md');
const postgres = spawnSync('psql', ['--version']).status === 0 ? await findPostgres() : undefined;
// Printed, because reporters do not say why something is left out.
if (postgres === undefined)
  console.warn(
    'examples/pages/audit.test.ts tampers with no event: no psql on PATH, or no PostgreSQL that answers',
  );

/** Runs `use` with a server that has a new database: one of PostgreSQL if somebody can tamper with it, else an embedded one. */
async function onNewDatabase(
  use: (server: PageServer, databaseUrl: string | undefined) => Promise<void>,
): Promise<void> {
  const name = `plinth_pages_${randomBytes(6).toString('hex')}`;
  const databaseUrl = postgres && inDatabase(postgres, name);
  if (postgres !== undefined) await run('psql', ['-q', postgres, '-c', `create database ${name}`]);
  const { server, end } = await startPageServer(['serve', 'authz', 'audit'], databaseUrl);
  try {
    await use(server, databaseUrl);
  } finally {
    await end();
    if (postgres !== undefined)
      await run('psql', ['-q', postgres, '-c', `drop database ${name} with (force)`]);
  }
}

it('the page shows what happened and who did it: recorded, verified, tampered with and named', () =>
  onNewDatabase(async (server, databaseUrl) => {
    const place = { $DATABASE_URL: databaseUrl ?? '' };
    const reader = readerOf(page, server, place);
    const answer = async (fence: string) => jsonForm(await reader.run(fence));
    const [listed, valid, invalid] = ['sh audit-list', 'sh audit-verify', 'sh audit-tamper'].map((fence) =>
      jsonForm(page.textAfter(fence)),
    );
    await reader.run('sh audit');
    await expect.poll(() => answer('sh audit-list'), { timeout: 20_000, interval: 200 }).toEqual(listed);
    expect(await answer('sh audit-verify')).toEqual(valid);
    expect(await reader.run('sh audit-export')).toMatch(/^intact: 1 to \d+, 0 purged, head [0-9a-f]{64}\n$/);
    if (databaseUrl === undefined) return;
    await reader.run('sh audit-tamper');
    expect(await answer('sh audit-verify')).toEqual(invalid);
    await readerOf(page, server, { ...place, critical: 'info' }).run('sh audit-tamper');
    expect(await answer('sh audit-verify')).toEqual(valid);
  }));
