import type { TestProject } from 'vitest/node';
import { services, type ServiceName } from '../generated/operations.ts';
import { startMock, startServer } from './process.ts';
import { forgetRecords, noteServed } from './records.ts';
import type { Target } from './targets.ts';

export interface TargetInfo {
  readonly name: Target;
  readonly url: string;
  readonly rootToken: string;
  /** What it serves of the contract. */
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
      const served = name === 'mock' ? allServices : await servicesAt(url);
      noteServed(name, served);
      return { name, url, rootToken, services: served };
    }),
  );
  project.provide('contract', { targets });
  return async () => {
    await Promise.all(running.map(({ process }) => process.stop()));
  };
}

const allServices = Object.keys(services) as ServiceName[];

/** The server says in its index which services it has. */
async function servicesAt(url: string): Promise<ServiceName[]> {
  const response = await fetch(url, { headers: { accept: 'application/json' } });
  const index = (await response.json()) as { services: { name: ServiceName }[] };
  return index.services.map(({ name }) => name);
}
