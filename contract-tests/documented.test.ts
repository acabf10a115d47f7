/**
 * What the three documents state against what the contract has. `DOCUMENTS=<folder of OpenAPI documents>` judges those instead,
 * each named as its service: for contracts whose services are not built yet.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { services } from '../generated/operations.ts';
import type { Document } from './contract.ts';
import { compare } from './documented/compare.ts';
import { renamedPaths } from './documented/exceptions.ts';
import { documented } from './documented/facts.ts';

const folder = process.env['DOCUMENTS'] ?? fileURLToPath(new URL('../tsp-output/openapi', import.meta.url));
const own = Object.values(services).map(({ document }) => `${document}.json`);
const files = process.env['DOCUMENTS'] ? readdirSync(folder).filter((name) => name.endsWith('.json')) : own;
if (files.length === 0) throw new Error(`${folder} holds no document`);

describe('the facts of the documents', () => {
  it('are those of 415 operations, each once', () => {
    const counts = Object.entries(documented).map(([service, { operations }]) => [
      service,
      operations.length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      auth: 77,
      authz: 26,
      keys: 23,
      safety: 44,
      billing: 44,
      webhooks: 20,
      jobs: 18,
      audit: 21,
      gateway: 20,
      control: 51,
      retrieval: 13,
      agents: 36,
      storage: 18,
      sync: 4,
    });
    const names = Object.entries(documented).flatMap(([service, { operations }]) =>
      operations.map(({ method, path }) => `${service} ${method} ${path}`),
    );
    expect(new Set(names).size).toBe(415);
  });
});

describe.each(files.map((file) => ({ file, service: basename(file, '.json').toLowerCase() })))(
  'the contract of $service',
  ({ file, service }) => {
    const facts = documented[service];
    const exceptions = renamedPaths.filter((exception) => exception.service === service);

    it('has every operation, field and status that the documents state', () => {
      if (!facts) throw new Error(`no document speaks of ${service}`);
      const document = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Document;
      const pathOf = (path: string) => exceptions.find((exception) => exception.path === path)?.contract;
      const { missing, renamed } = compare(facts, document, pathOf);
      expect(missing).toEqual([]);
      // An exception that no operation needs hides what it was made for.
      expect(exceptions.filter(({ path }) => !renamed.includes(path))).toEqual([]);
    });
  },
);
