/** Contracts with any schema, and the verdict of a comparison in one word. */
import type { Break } from '../break.ts';
import type { Document } from '../document.ts';

export type Json = Record<string, unknown>;
export const json = (schema: unknown) => ({ 'application/json': { schema } });

export function documentOf(operation: Json = {}, more: Json = {}): Document {
  const post = { operationId: 'Things_make', responses: { '200': {} }, ...operation };
  return { paths: { '/things': { post } }, components: { schemas: {} }, ...more };
}
export const sends = (schema: unknown) =>
  documentOf({ requestBody: { required: true, content: json(schema) } });
export const answers = (schema: unknown) => documentOf({ responses: { '200': { content: json(schema) } } });
export const asks = (schema: Json, more: Json = {}) =>
  documentOf({ parameters: [{ name: 'q', in: 'query', required: false, schema, ...more }] });

export type Verdict = 'break' | 'perhaps' | 'fine';
export const verdictOf = (breaks: readonly Break[]): Verdict =>
  breaks.some(({ certain }) => certain) ? 'break' : breaks.length > 0 ? 'perhaps' : 'fine';

export const text = (more: Json = {}) => ({ type: 'string', ...more });
export const list = (more: Json = {}) => ({ type: 'array', ...more });
export const object = (more: Json = {}) => ({ type: 'object', ...more });
export const number = (more: Json = {}) => ({ type: 'number', ...more });

export const member = (schema: Json, more: Json = {}) => object({ properties: { a: schema }, ...more });

/** [what, before, after, in a request, in an answer] */
export type SchemaChange = [string, unknown, unknown, Verdict, Verdict];
