import type { TestProject } from 'vitest/node';
import { startMock, startServer } from './process.ts';
import { forgetRecords } from './records.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    contract: {
      /** Where the tests are pointed: TARGET=mock or TARGET=server, both without it. */
      readonly targets: readonly {
        readonly name: 'mock' | 'server';
        readonly url: string;
        readonly rootToken: string;
      }[];
    };
  }
}

/** Starts the targets once for all files of the run. Each test has a tenant of its own, so they do not meet. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  forgetRecords();
  const target = process.env['TARGET'];
  const starts = { mock: startMock, server: startServer };
  const names = (['mock', 'server'] as const).filter(
    (name) => target === undefined || target === '' || target === name,
  );
  if (names.length === 0) throw new Error('TARGET must be mock or server');
  const running = await Promise.all(names.map(async (name) => ({ name, process: await starts[name]() })));
  project.provide('contract', {
    targets: running.map(({ name, process: { url, rootToken } }) => ({ name, url, rootToken })),
  });
  return async () => {
    await Promise.all(running.map(({ process }) => process.stop()));
  };
}
