/** The vitest projects of this folder: the tests, and after them their coverage. */
const common = { testTimeout: 60_000, hookTimeout: 90_000 };

export const contractProjects = [
  {
    extends: true as const,
    test: {
      ...common,
      name: 'contract',
      include: ['contract-tests/**/*.test.ts'],
      exclude: ['contract-tests/coverage.test.ts'],
      globalSetup: './contract-tests/setup.ts',
      setupFiles: './contract-tests/note-file.ts',
    },
  },
  {
    extends: true as const,
    test: {
      ...common,
      name: 'coverage',
      include: ['contract-tests/coverage.test.ts'],
      // Groups run one after the other; this one runs after everything else.
      sequence: { groupOrder: 1 },
    },
  },
];
