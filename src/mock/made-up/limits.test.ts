/** Schemas for which no answer can be made up: they would take unlimited time or memory. */
import { expect, it, vi } from 'vitest';
import type { Operation } from '../../../generated/operations.ts';
import type { Document, Schema } from '../contract/document.ts';
import { makingUp, type Limits } from './made-up.ts';

vi.setConfig({ testTimeout: 120_000 });

const schemas: Readonly<Record<string, Schema>> = {
  harmless: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 10 } } },
  // Each item costs memory, and the contract demands all of them.
  vast: { type: 'array', minItems: 100_000, items: { type: 'string', minLength: 100 } },
};

const document = {
  openapi: '3.1.0',
  info: { title: 'hostile', version: '1' },
  paths: Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      `/${name}`,
      {
        get: {
          operationId: name,
          responses: { 200: { description: name, content: { 'application/json': { schema } } } },
        },
      },
    ]),
  ),
  components: { schemas: {} },
} as unknown as Document;

const wanted = (id: string) => ({
  operation: { id, verb: 'GET' } as Operation,
  preference: { code: 200, dynamic: true },
  contentType: 'application/json',
});

it.each<[string, Limits]>([
  ['memory', { milliseconds: 60_000, megabytes: 64 }],
  ['time', { milliseconds: 50, megabytes: 2048 }],
])('what needs more %s than it may take is not made up, and the mock goes on', async (_, limits) => {
  const madeUp = makingUp(document, limits);
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 1);
  expect(await madeUp(wanted('vast'))).toBeUndefined();
  clearInterval(turning);
  // The thread of this test kept running meanwhile.
  expect(turns).toBeGreaterThan(10);
});

it('the same is made up where it may take both', async () => {
  const made = await makingUp(document, { milliseconds: 60_000, megabytes: 2048 })(wanted('vast'));
  expect(JSON.parse(String(made?.body))).toHaveLength(100_000);
});

it('one who asks for too much does not take the answers of others with him', async () => {
  const madeUp = makingUp(document, { milliseconds: 60_000, megabytes: 64 });
  const answers = await Promise.all(['harmless', 'vast', 'harmless'].map((name) => madeUp(wanted(name))));
  expect(answers.map((answer) => answer !== undefined)).toEqual([true, false, true]);
});
