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
  /** What it serves of the contract: `authz.Roles_create`. */
  readonly operations: readonly string[];
  /** The services that it has, whole or in part. */
  readonly services: readonly ServiceName[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    contract: {
      /** Where the tests are pointed: TARGET=mock or TARGET=server, both without it. */
      readonly targets: readonly TargetInfo[];
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
  const targets = await Promise.all(
    running.map(async ({ name, process: { url, rootToken } }) => {
      const served = name === 'mock' ? operations.map(nameOf) : await operationsAt(url);
      noteServed(name, served);
      const services = [...new Set(served.map((operation) => operation.split('.')[0] as ServiceName))];
      return { name, url, rootToken, operations: served, services };
    }),
  );
  project.provide('contract', { targets });
  return async () => {
    await Promise.all(running.map(({ process }) => process.stop()));
  };
}

/** The server's document of all services names its operations as the tests do. */
async function operationsAt(url: string): Promise<string[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const items = Object.values(document.paths);
  return items.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
}
