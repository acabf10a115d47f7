import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { contractProjects } from './projects.ts';

/** Runs the contract tests alone: `npx vitest run --config contract-tests/vitest.config.ts contract-tests/authz/roles.test.ts`. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: { maxWorkers: 2, projects: contractProjects },
});
