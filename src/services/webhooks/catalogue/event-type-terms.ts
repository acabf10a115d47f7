import { createHash } from 'node:crypto';
import type { EventTypeCreate, EventTypeUpdate } from '../../../../generated/webhooks/types.ts';
import { Invalid } from '../../../lib/errors.ts';

/** What an event type stores besides its name and its times. `schema` and `example` are JSON texts, which keep the order of keys. */
export interface EventTypeTerms {
  readonly description: string;
  readonly group: string;
  readonly version: string;
  readonly schema: string | null;
  readonly schema_hash: string | null;
  readonly example: string | null;
}

const mostSchemaBytes = 64 * 1024;
const mostExampleBytes = 16 * 1024;
const longestGroup = 64;

/** The stored terms of a new type, with what the request leaves out. */
export function newTerms({ name, ...given }: EventTypeCreate, today: Date): EventTypeTerms {
  const [group = ''] = name.split('.');
  return {
    group: group.slice(0, longestGroup),
    version: today.toISOString().slice(0, 10),
    description: '',
    schema: null,
    schema_hash: null,
    example: null,
    ...changedTerms(given),
  };
}

/** The stored form of the terms that a request gives; absent ones stay absent. */
export function changedTerms({ schema, example, ...given }: EventTypeUpdate): Partial<EventTypeTerms> {
  const schemaText = textWithin(schema, 'schema', mostSchemaBytes);
  const exampleText = textWithin(example, 'example', mostExampleBytes);
  return {
    ...given,
    ...(schemaText !== undefined && {
      schema: schemaText,
      schema_hash: schemaText && createHash('sha256').update(schemaText).digest('base64url'),
    }),
    ...(exampleText !== undefined && { example: exampleText }),
  };
}

function textWithin(
  value: object | null | undefined,
  field: string,
  most: number,
): string | null | undefined {
  if (value === undefined || value === null) return value;
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > most) throw Invalid(`${field}: larger than ${most} bytes`);
  return text;
}
