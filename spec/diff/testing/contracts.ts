/** Contracts with one operation, changed as a test demands, and the names of the breaks that a comparison finds. */
import type { Break } from '../break.ts';
import type { Document } from '../document.ts';

export type Json = Record<string, unknown>;

/** Returns a document with one operation, `POST /things/{id}`, changed as a case demands. */
export function documentOf(change: Json = {}, schemas: Json = {}, path = '/things/{id}'): Document {
  const operation = {
    operationId: 'Things_make',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 9 } }],
    responses: { '200': { content: json({ type: 'string' }) } },
    ...change,
  };
  return { paths: { [path]: { post: operation } }, components: { schemas } } as unknown as Document;
}

export const json = (schema: Json) => ({ 'application/json': { schema } });
export const sealed = { unevaluatedProperties: { not: {} } };
export const sends = (schema: Json) => documentOf({ requestBody: { required: true, content: json(schema) } });
export const answers = (schema: Json, status = '200') =>
  documentOf({ responses: { '200': {}, [status]: { content: json(schema) } } });
export const asks = (parameter: Json | null) =>
  documentOf({
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 9 } },
      ...(parameter ? [{ name: 'q', in: 'query', required: false, ...parameter }] : []),
    ],
  });
export const text = (keywords: Json = {}) => ({ type: 'string', ...keywords });
export const object = (properties: Json, required: string[] = [], more: Json = sealed) => ({
  type: 'object',
  properties,
  required,
  ...more,
});

export const namesOf = (breaks: readonly Break[]) =>
  breaks.map(({ place, change, certain }) => `${place} ${change}${certain ? '' : ' perhaps'}`);
