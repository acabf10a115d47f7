/** Wire types of a service, by openapi-typescript. */
import openapiTS, { astToString } from 'openapi-typescript';
import type { ServiceContract } from './contract.ts';
import { withoutRestored } from './leeway.ts';
import { header } from './source.ts';

/**
 * The named schemas as types. `filled` says whether members with a default are present, as they are for a handler
 * after validation, or may be left out, as they may by a client.
 */
export async function types(service: ServiceContract, { filled }: { filled: boolean }): Promise<string> {
  const { openapi, info } = service.openapi;
  const schemas = filled ? withoutRestored(service.schemas) : service.schemas;
  const document = { openapi, info, paths: {}, components: { schemas: forTypes(schemas) } };
  const ast = await openapiTS(document as Parameters<typeof openapiTS>[0], {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    defaultNonNullable: filled,
  });
  const text = astToString(ast);
  return (
    header +
    text
      .slice(text.indexOf('export interface components'))
      .replace(/^export type (\$defs|operations) = .*\n/gm, '')
  );
}

/**
 * openapi-typescript does not know `unevaluatedProperties` and types open maps as `Record<string, never>`; for it, and
 * only in memory, they are said with the older keyword.
 */
function forTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forTypes);
  if (typeof node !== 'object' || node === null) return node;
  const { unevaluatedProperties: open, ...rest } = node as Record<string, unknown>;
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, forTypes(value)]));
  if (open === undefined || JSON.stringify(open) === '{"not":{}}') return copy;
  const values = forTypes(open);
  return { ...copy, additionalProperties: JSON.stringify(values) === '{}' ? true : values };
}
