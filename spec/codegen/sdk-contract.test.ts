/** Tests what an editor shows for every method of the client, and how every list is read, over the actual contract. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { byResource, parseService, type Operation, type ServiceContract } from './contract.ts';
import { root } from './derive.ts';
import { callText } from './sdk-examples.ts';
import { listOf } from './sdk-lists.ts';
import { isCall, isStructured } from './sdk-operations.ts';
import { methodDoc } from './sdk-resource.ts';
import { firstSentence } from './source.ts';

const folder = join(root, 'tsp-output/openapi');
const services = readdirSync(folder)
  .sort()
  .map((file) => parseService(file.replace('.json', ''), readFileSync(join(folder, file), 'utf8')));

const calls = services.flatMap((service) =>
  service.operations
    .filter(isCall)
    .map((operation) => ({ service, operation, name: `${service.name}.${operation.id}` })),
);

/** Returns the names of the calls that violate a condition. */
const failing = (holds: (service: ServiceContract, operation: Operation) => boolean) =>
  calls.filter(({ service, operation }) => !holds(service, operation)).map(({ name }) => name);

describe('every method of the client', () => {
  it('says what it does, its errors and how it is called', () => {
    expect(calls.length).toBeGreaterThan(600);
    const bad = failing((service, operation) => {
      const doc = methodDoc(service, operation);
      const failures = operation.responses.filter(({ status }) => status >= 400);
      return (
        /^[A-Z].{8,}[.:]$/.test(firstSentence(operation.description)) &&
        doc.startsWith(operation.description) &&
        failures.every(({ status }) => new RegExp(`^- ${status}: \\w.{8,}\\.$`, 'm').test(doc)) &&
        doc.includes(`@example\n\`\`\`ts\n`) &&
        doc.includes(`plinth.${service.name}.`)
      );
    });
    expect(bad).toEqual([]);
  });

  it('documents an error at least, and needs no credentials exactly where the contract says so', () => {
    expect(failing((_, { responses }) => responses.some(({ status }) => status >= 400))).toEqual([]);
    const bad = failing(
      (service, operation) =>
        methodDoc(service, operation).includes('needs no credentials') === (operation.access === 'public'),
    );
    expect(bad).toEqual([]);
  });

  it('is shown with values that mean something', () => {
    const bad = failing((service, operation) => {
      const call = callText(service, operation);
      const isBytes = operation.body !== null && !isStructured(operation);
      return !/'text'|'string'|body: \{\}/.test(call) && (!isBytes || call.includes('body: new Blob(['));
    });
    expect(bad).toEqual([]);
  });

  it('has a name of its own among those of its resource', () => {
    for (const service of services) {
      const resources = [...byResource(service).keys()].map((name) => name.toLowerCase());
      expect(new Set(resources).size, service.name).toBe(resources.length);
    }
    expect(new Set(calls.map(({ name }) => name)).size).toBe(calls.length);
  });
});

describe('the lists of the contract', () => {
  it('are of these kinds', () => {
    const kinds = new Map<string, Set<string>>();
    for (const { service, operation } of calls) {
      const shape = listOf(service, operation);
      if (!shape) continue;
      const { pages, items, cursor = 'X-Next-Cursor', more } = shape;
      const kind = `${items ? 'envelope' : 'array'} by ${pages === 'cursor' ? cursor : (more ?? 'length')}`;
      kinds.set(kind, (kinds.get(kind) ?? new Set()).add(service.name));
    }
    const table = [...kinds].map(([kind, names]) => `${kind}: ${[...names].join(' ')}`);
    expect(table.sort()).toEqual([
      'array by X-Next-Cursor: agents audit authz gateway jobs keys retrieval safety sync webhooks',
      'envelope by X-Next-Cursor: auth',
      'envelope by cursor: storage',
      'envelope by next_cursor: audit control',
      'envelope by pagination.has_more: billing',
    ]);
  });

  it('leave out nothing that takes a limit, but what is read by other means', () => {
    const others = calls
      .filter(({ service, operation }) => operation.verb === 'GET' && !listOf(service, operation))
      .filter(({ operation }) => operation.parameters.some(({ name }) => name === 'limit'))
      .map(({ name }) => name);
    // The first reads backwards from a message, the second forwards from an event.
    expect(others).toEqual(['agents.Conversations_list', 'agents.Runs_events']);
  });
});
