import { defineConfig } from 'vitest/config';
import { contractProjects } from './contract-tests/projects.ts';
import { findPostgres } from './src/testing/postgres.ts';

/*
 * Which tests run where follows from the name of the file:
 *
 *     *.test.ts             pure: no database. Runs once, in the project `unit`.
 *     *.db.test.ts          opens a database with `testDatabase` or a server with `testServer`. Runs in `pglite`, and in `postgres`
 *                           where a PostgreSQL answers (TEST_DATABASE_URL, else 127.0.0.1:5432); the run says which. The files share
 *                           the modules of their worker.
 *     *.once.db.test.ts     needs a database and shows nothing that depends on its engine: runs in `postgres` where a PostgreSQL answers,
 *                           else in `pglite`
 *     *.isolated.db.test.ts replaces modules, so it shares none: `pglite-isolated` and `postgres-isolated`
 *     *.isolated.test.ts    does so without a database: `unit-isolated`
 *     contract-tests/       project `contract`; `coverage` runs after it and judges what it saw
 *     examples/             project `examples`
 *     site/                 project `site`; the documentation is built before
 *     sdk/test/             project `sdk`
 *
 * One project: `npx vitest run --project pglite`. One file: `npx vitest run src/db/migrate.db.test.ts`.
 */
const url = await findPostgres();
const isolated = '**/*.isolated.db.test.ts';
const once = '**/*.once.db.test.ts';

/** The projects of one engine. What files share is above all the compiled engine and the validators made from the contracts. */
const onEngine = (engine: 'pglite' | 'postgres', databaseUrl: string) => {
  const common = { testTimeout: 60_000, hookTimeout: 120_000, provide: { engine, databaseUrl } };
  const exclude = engine === 'pglite' && url !== undefined ? [isolated, once] : [isolated];
  const shared = { name: engine, include: ['src/**/*.db.test.ts'], exclude, isolate: false };
  const apart = { name: `${engine}-isolated`, include: [isolated] };
  return [
    { extends: true as const, test: { ...common, ...shared } },
    { extends: true as const, test: { ...common, ...apart } },
  ];
};

export default defineConfig({
  test: {
    // One more than the two cores of CI: many tests wait for processes, for commits and for time to pass.
    maxWorkers: 3,
    globalSetup: './src/testing/global-setup.ts',
    // A busy machine takes long; a test that passes ends as soon as it can.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    env: { PLINTH_CONTRACT: 'strict' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'spec/**/*.test.ts', 'deploy/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'src/**/*.db.test.ts', '**/*.isolated.test.ts'],
          isolate: false,
          // Some start processes, which takes long while other tests keep the cores busy.
          testTimeout: 60_000,
        },
      },
      { extends: true, test: { name: 'unit-isolated', include: ['src/**/*.isolated.test.ts'] } },
      ...onEngine('pglite', ''),
      ...(url === undefined ? [] : onEngine('postgres', url)),
      ...contractProjects,
      {
        extends: true,
        test: {
          name: 'examples',
          include: ['examples/**/*.test.ts'],
          globalSetup: './examples/testing/setup.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'site',
          include: ['site/**/*.test.ts'],
          globalSetup: './site/test/setup.ts',
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { name: 'sdk', include: ['sdk/test/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 60_000 },
      },
    ],
  },
});
