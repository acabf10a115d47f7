import type { TestProject } from 'vitest/node';
import { operations, type ServiceName } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import { startMock, startServer } from './process.ts';
import { forgetRecords, noteServed } from './records.ts';
import type { Target } from './targets.ts';

export interface TargetInfo {
  readonly name: Target;
  readonly url: string;
  readonly rootToken: string;
  /** The server's output at the start, for tests that need it. */
  readonly printed: string;
  /** The operations that the target serves, such as `authz.Roles_create`. */
  readonly operations: readonly string[];
  /** The services that the target has, completely or in part. */
  readonly services: readonly ServiceName[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    contract: {
      /** The targets of the tests: TARGET=mock or TARGET=server, both by default. */
      readonly targets: readonly TargetInfo[];
    };
  }
}

/** Starts the targets once for all files of the run. Each test has its own tenant, so tests do not affect each other. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  forgetRecords();
  const target = process.env['TARGET'];
  const starts = { mock: startMock, server: startServer };
  const names = (['mock', 'server'] as const).filter(
    (name) => target === undefined || target === '' || target === name,
  );
  if (names.length === 0) throw new Error('TARGET must be mock or server');
  const running = await Promise.all(names.map(async (name) => ({ name, process: await starts[name]() })));
  const targets = await Promise.all(
    running.map(async ({ name, process: { url, rootToken, output } }) => {
      const served = name === 'mock' ? operations.map(nameOf) : await operationsAt(url);
      noteServed(name, served);
      const services = [...new Set(served.map((operation) => operation.split('.')[0] as ServiceName))];
      return { name, url, rootToken, printed: output(), operations: served, services };
    }),
  );
  project.provide('contract', { targets });
  return async () => {
    await Promise.all(running.map(({ process }) => process.stop()));
  };
}

/** Returns the operations in the server's document of all services, which names them as the tests do. */
async function operationsAt(url: string): Promise<string[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const items = Object.values(document.paths);
  return items.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
}
