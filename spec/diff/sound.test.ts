/**
 * Tests that no change goes unnoticed, with random pairs of small schemas: whenever a separate Ajv finds a value that shows a
 * break, the comparison does not report that there is none, and every reported break is real.
 */
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Break } from './break.ts';
import { compare } from './compare.ts';
import type { Document } from './document.ts';
import { pairOfSchemas, valueOfAny } from './small.ts';
import { readFrom } from './views.ts';

const json = (schema: unknown) => ({ 'application/json': { schema } });
const documentOf = (operation: object): Document => ({
  paths: { '/things': { post: { operationId: 'Things_make', responses: { '200': {} }, ...operation } } },
  components: { schemas: {} },
});
const sends = (schema: unknown) => documentOf({ requestBody: { required: true, content: json(schema) } });
const answers = (schema: unknown) => documentOf({ responses: { '200': { content: json(schema) } } });

const judge = (schema: unknown): ValidateFunction =>
  new Ajv2020({ strict: false, validateSchema: false, logger: false }).compile(schema as AnySchema);

const values = fc.sample(valueOfAny, { seed: 3, numRuns: 400 });

/** Returns what is wrong with the verdict about values that one side writes and the other reads. */
function wrong(
  found: readonly Break[],
  writes: unknown,
  reads: unknown,
  shown: (one: Break) => unknown,
): unknown {
  const [written, read] = [judge(writes), judge(reads)];
  const witness = values.find((value) => written(value) && !read(value));
  if (witness !== undefined && found.length === 0) return { silentAbout: witness };
  const untrue = found.filter((one) => one.certain && !(written(shown(one)) && !read(shown(one))));
  return untrue.length > 0 ? { untrue } : undefined;
}

const numRuns = 300;
const seed = 1;

describe('a random change of a small schema', { timeout: 120_000 }, () => {
  it('is not passed over in a request', () => {
    const property = fc.property(pairOfSchemas, ([before, after]) => {
      const found = compare(sends(before), sends(after));
      expect(wrong(found, before, after, ({ request }) => request.body)).toBe(undefined);
    });
    fc.assert(property, { numRuns, seed });
  });

  it('is not passed over in an answer', () => {
    const property = fc.property(pairOfSchemas, ([before, after]) => {
      const found = compare(answers(before), answers(after));
      expect(wrong(found, after, readFrom(before), ({ answer }) => answer?.body)).toBe(undefined);
    });
    fc.assert(property, { numRuns, seed });
  });
});
