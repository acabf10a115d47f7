/** Wire types of a service, by openapi-typescript. */
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { refName, type Schema, type ServiceContract } from './contract.ts';
import { withoutRestored } from './leeway.ts';
import { header } from './source.ts';

/**
 * The named schemas as types. `filled` says whether members with a default are present, as they are for a handler
 * after validation, or may be left out, as they may by a client; to what only a client sends, undefined is left out, too.
 */
export async function types(service: ServiceContract, { filled }: { filled: boolean }): Promise<string> {
  const { openapi, info } = service.openapi;
  const schemas = filled ? withoutRestored(service.schemas) : service.schemas;
  const document = { openapi, info, paths: {}, components: { schemas: forTypes(schemas) } };
  const loose = filled ? new Set() : requestOnly(service);
  const ast = await openapiTS(document as Parameters<typeof openapiTS>[0], {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    defaultNonNullable: filled,
    transformProperty: (property, _, { path = '' }) =>
      loose.has(refName(path).split('/')[0] ?? '') ? orUndefined(property) : property,
  });
  const text = astToString(ast);
  return (
    header +
    text
      .slice(text.indexOf('export interface components'))
      .replace(/^export type (\$defs|operations) = .*\n/gm, '')
  );
}

/** `name?: string` → `name?: string | undefined`: `exactOptionalPropertyTypes` tells them apart, and JSON does not. */
function orUndefined(property: ts.PropertySignature): ts.PropertySignature {
  const { modifiers, name, questionToken, type } = property;
  if (!questionToken || !type) return property;
  const either = ts.factory.createUnionTypeNode([
    type,
    ts.factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword),
  ]);
  return ts.factory.updatePropertySignature(property, modifiers, name, questionToken, either);
}

/** The schemas that requests are made of and no answer is. */
function requestOnly({ openapi, schemas }: ServiceContract): Set<string> {
  const operations = Object.values(openapi['paths'] as Record<string, object>).flatMap(
    (path) => Object.values(path) as Record<string, unknown>[],
  );
  const sent = reachable(
    schemas,
    operations.map(({ requestBody }) => requestBody),
  );
  const answered = reachable(
    schemas,
    operations.map(({ requestBody: _, ...others }) => others),
  );
  return new Set([...sent].filter((name) => !answered.has(name)));
}

/** The names of all schemas that something refers to, at once or through others. */
function reachable(schemas: Record<string, Schema>, from: unknown, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(from).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    reachable(schemas, schemas[name], found);
  }
  return found;
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
