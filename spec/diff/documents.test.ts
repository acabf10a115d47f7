/** Tests the comparison on the contract itself: an unchanged contract gives no findings, and findings are true. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Break } from './break.ts';
import { compare } from './compare.ts';
import { refName, type Document, type Schema } from './document.ts';

const folder = new URL('../../tsp-output/openapi/', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const read = (text: string) => JSON.parse(text) as Document;

describe('a document', () => {
  it.each(names)('%s has no breaks to itself with other words', (name) => {
    const text = textOf(name);
    expect(
      compare(read(text), read(text.replaceAll(/"description": "(?=[^"])/g, '"description": "Now: '))),
    ).toEqual([]);
  });

  it.each(['Sync.json', 'Webhooks.json', 'Retrieval.json'])(
    '%s has none when its schemas are renamed',
    (name) => {
      const text = textOf(name);
      const renamed = read(text.replaceAll('"#/components/schemas/', '"#/components/schemas/New'));
      const schemas = Object.entries(renamed.components?.schemas ?? {});
      const components = {
        ...renamed.components,
        schemas: Object.fromEntries(schemas.map(([own, schema]) => [`New${own}`, schema])),
      };
      expect(compare(read(text), { ...renamed, components })).toEqual([]);
    },
  );
});

type Mutable = { -readonly [Keyword in keyof Schema]: Schema[Keyword] };

/** Functions that narrow a schema in place. They return false when they cannot. */
const narrow: Record<string, (schema: Mutable) => boolean> = {
  maxLength(schema) {
    if (
      schema.maxLength === undefined ||
      schema.maxLength < 1 ||
      schema.enum ||
      schema.pattern ||
      schema.format
    )
      return false;
    schema.maxLength -= 1;
    return schema.maxLength >= (schema.minLength ?? 0);
  },
  maximum(schema) {
    if (schema.maximum === undefined || schema.enum) return false;
    schema.maximum -= 1;
    return schema.maximum >= (schema.minimum ?? -Infinity);
  },
  minimum(schema) {
    if (schema.minimum === undefined || schema.enum) return false;
    schema.minimum += 1;
    return schema.minimum <= (schema.maximum ?? Infinity);
  },
  enum(schema) {
    schema.enum = schema.enum?.slice(0, -1) ?? [];
    return schema.enum.length > 0;
  },
  maxItems(schema) {
    if (schema.maxItems === undefined || schema.maxItems > 1000 || schema.uniqueItems) return false;
    schema.maxItems -= 1;
    return schema.maxItems >= (schema.minItems ?? 0);
  },
  required(schema) {
    const optional = Object.keys(schema.properties ?? {}).find((name) => !schema.required?.includes(name));
    schema.required = [...(schema.required ?? []), optional ?? ''];
    return optional !== undefined;
  },
  property(schema) {
    const optional = Object.keys(schema.properties ?? {}).find((name) => !schema.required?.includes(name));
    const { [optional ?? '']: gone, ...kept } = schema.properties ?? {};
    schema.properties = kept;
    return gone !== undefined && schema.unevaluatedProperties !== undefined;
  },
};

/** Returns every schema that occurs in a JSON request body. */
function requestSchemas(document: Document): Schema[] {
  const found = new Set<Schema>();
  const visit = (schema: Schema | undefined): void => {
    if (!schema || found.has(schema)) return;
    if (schema.$ref !== undefined) return visit(document.components?.schemas?.[refName(schema.$ref)]);
    found.add(schema);
    const forms = schema.anyOf ?? schema.oneOf ?? [];
    for (const part of [...Object.values(schema.properties ?? {}), schema.items, ...forms]) visit(part);
  };
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    visit(operation.requestBody?.content['application/json']?.schema);
  }
  return [...found];
}

function valid(document: Document, schema: Schema = {}, value: unknown, coerceTypes = false): boolean {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, coerceTypes });
  addFormats.default(ajv);
  const holder = { components: document.components, properties: { value: schema } };
  return ajv.compile(holder as AnySchema)({ value }) as boolean;
}

const operationAt = (document: Document, { operation }: Break) => {
  const [verb = '', path = ''] = operation.split(' ');
  return document.paths[path]?.[verb.toLowerCase()] ?? expect.fail(operation);
};

/** Whether a separate Ajv confirms what the break shows. */
function isTrue(before: Document, after: Document, found: Break): boolean {
  const [old, now] = [operationAt(before, found), operationAt(after, found)];
  const { answer, request } = found;
  if (answer) {
    const [was, is] = [old, now].map(({ responses }) => responses[answer.status]);
    const type = answer.contentType ?? '';
    const [header, text] = Object.entries(answer.headers)[0] ?? [];
    if (header !== undefined) {
      return (
        valid(after, is?.headers?.[header]?.schema, text, true) &&
        !valid(before, was?.headers?.[header]?.schema, text, true)
      );
    }
    return (
      answer.event !== undefined ||
      (valid(after, is?.content?.[type]?.schema, answer.body) &&
        !valid(before, was?.content?.[type]?.schema, answer.body))
    );
  }
  if (!found.place.startsWith('body') || found.change === 'default') return true;
  const [was, is] = [old, now].map((one) => one.requestBody?.content[request.contentType ?? '']?.schema);
  return valid(before, was, request.body) && !valid(after, is, request.body);
}

describe('a request schema of the contract that is narrowed at random', () => {
  const documents = ['Authz.json', 'Keys.json', 'Webhooks.json', 'Jobs.json'].map((name) => textOf(name));

  it('is found, with a true witness', { timeout: 120_000 }, () => {
    let judged = 0;
    const change = fc.tuple(fc.constantFrom(...documents), fc.constantFrom(...Object.keys(narrow)), fc.nat());
    fc.assert(
      fc.property(change, ([text, how, at]) => {
        const [before, after] = [read(text), read(text)];
        const fitting = requestSchemas(read(text)).flatMap((schema, index) =>
          how in schema || how === 'required' || how === 'property'
            ? narrow[how]?.(schema)
              ? [index]
              : []
            : [],
        );
        const index = fitting[at % fitting.length];
        fc.pre(index !== undefined);
        narrow[how]?.(requestSchemas(after)[index] ?? expect.fail());
        const found = compare(before, after).filter(({ certain }) => certain);
        expect(found.some(({ place }) => place.startsWith('body'))).toBe(true);
        // Widening it again may break the answers.
        const back = compare(after, before).filter(({ certain }) => certain);
        expect(found.filter((one) => !isTrue(before, after, one))).toEqual([]);
        expect(back.filter((one) => !isTrue(after, before, one))).toEqual([]);
        judged += found.length + back.length;
      }),
      { numRuns: 15, seed: 7 },
    );
    expect(judged).toBeGreaterThan(15);
  });
});
