import { defineConfig } from 'vitest/config';
import { contractProjects } from './contract-tests/projects.ts';
import { findPostgres } from './src/testing/postgres.ts';

/*
 * Which tests run where follows from the name of the file:
 *
 *     *.test.ts             pure: no database. Runs once, in the project `unit`.
 *     *.db.test.ts          opens a database with `testDatabase` or a server with `testServer`. Runs in `pglite`, and in `postgres`
 *                           where a PostgreSQL answers (TEST_DATABASE_URL, else 127.0.0.1:5432); the run says which.
 *     contract-tests/       project `contract`; `coverage` runs after it and judges what it saw
 *     examples/             project `examples`
 *     sdk/test/             project `sdk`
 *
 * One project: `npx vitest run --project pglite`. One file: `npx vitest run src/db/migrate.db.test.ts`.
 */
const url = await findPostgres();
const database = { include: ['src/**/*.db.test.ts'], testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: './src/testing/global-setup.ts',
    expect: { poll: { timeout: 10_000, interval: 20 } },
    env: { PLINTH_CONTRACT: 'strict' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'spec/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'src/**/*.db.test.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'pglite', ...database, provide: { engine: 'pglite', databaseUrl: '' } },
      },
      ...(url === undefined
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'postgres',
                ...database,
                provide: { engine: 'postgres' as const, databaseUrl: url },
              },
            },
          ]),
      ...contractProjects,
      {
        extends: true,
        test: { name: 'examples', include: ['examples/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: { name: 'sdk', include: ['sdk/test/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 60_000 },
      },
    ],
  },
});
