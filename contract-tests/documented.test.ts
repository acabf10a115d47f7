/** Compares the facts in the three documents with the contract. */
import { describe, expect, it } from 'vitest';
import { services, type ServiceName } from '../generated/operations.ts';
import { documentOf } from './contract.ts';
import { compare } from './documented/compare.ts';
import { alternatives, renamedPaths } from './documented/exceptions.ts';
import { documented } from './documented/facts.ts';

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

describe.each(Object.keys(services) as ServiceName[])('the contract of %s', (service) => {
  const exceptions = renamedPaths.filter((exception) => exception.service === service);

  it('has every operation, field and status that the documents state', () => {
    const facts = documented[service];
    if (!facts) throw new Error(`no document speaks of ${service}`);
    const pathOf = (path: string) => exceptions.find((exception) => exception.path === path)?.contract;
    const insteadOf = (member: string) =>
      alternatives.find((one) => one.service === service && one.member === member)?.instead;
    const { missing, renamed } = compare(facts, documentOf(service), pathOf, insteadOf);
    expect(missing).toEqual([]);
    // An unused exception would hide a later difference.
    expect(exceptions.filter(({ path }) => !renamed.includes(path))).toEqual([]);
  });
});
