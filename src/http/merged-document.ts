/** Merges several OpenAPI documents into one, for clients of one gateway: each service keeps its path, and its name prefixes its names. */

/** The parts of a document that merging reads. */
export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly unknown[];
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly parameters?: readonly { readonly required?: boolean }[];
  readonly security?: readonly unknown[];
}

/** A document and where it belongs, for example under the name `authz` and the path `/authz`. */
export interface Part {
  readonly name: string;
  readonly prefix: string;
  readonly document: OpenApi;
}

/** The merged document. Names of schemas, operations and tags begin with the service's: `authz.Role`. */
export function mergeDocuments(parts: readonly Part[]) {
  const components: Record<string, Record<string, unknown>> = {};
  for (const part of parts) {
    for (const [kind, named] of Object.entries(componentsOf(part)))
      components[kind] = { ...components[kind], ...named };
  }
  const { version } = parts[0]?.document.info ?? { version: '1.0.0' };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'The platform services of this server as one API. Each has a document and a reference of its own.',
    },
    servers: [{ url: '/' }],
    tags: parts.flatMap(({ name, document }) =>
      document.tags.map((tag) => ({ ...tag, name: `${name}.${tag.name}` })),
    ),
    // Viewers that support `x-tagGroups` show the tags of a service together.
    'x-tagGroups': parts.map(({ name, document }) => ({
      name: document.info.title,
      tags: document.tags.map((tag) => `${name}.${tag.name}`),
    })),
    paths: Object.fromEntries(parts.flatMap(pathsOf)),
    components,
  };
}

/** Security schemes keep their names, because all services accept the same credentials. */
function componentsOf({ name, document }: Part) {
  const kinds = Object.entries(document.components).map(([kind, named]) => {
    if (kind === 'securitySchemes') return [kind, named] as const;
    const entries = Object.entries(named).map(([own, value]) => [
      `${name}.${own}`,
      renamed(value, name, document),
    ]);
    return [kind, Object.fromEntries(entries) as Record<string, unknown>] as const;
  });
  return Object.fromEntries(kinds);
}

function pathsOf({ name, prefix, document }: Part) {
  return Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([verb, operation]) => [
      verb,
      {
        ...(renamed(operation, name, document) as Operation),
        operationId: `${name}.${operation.operationId}`,
        tags: operation.tags.map((tag) => `${name}.${tag}`),
        security: operation.security ?? document.security,
      },
    ]);
    return [prefix + path, Object.fromEntries(operations) as Record<string, Operation>] as const;
  });
}

/** Copies a node and points its references to the new names. Text that only looks like a reference, as in an example, stays. */
function renamed(node: unknown, name: string, document: OpenApi): unknown {
  if (Array.isArray(node)) return node.map((item) => renamed(item, name, document));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    key === '$ref' && typeof value === 'string'
      ? target(value, name, document)
      : renamed(value, name, document),
  ]);
  return Object.fromEntries(entries) as unknown;
}

function target(reference: string, name: string, { components }: OpenApi): string {
  const [, kind = '', own = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(reference) ?? [];
  return components[kind]?.[own] === undefined ? reference : `#/components/${kind}/${name}.${own}`;
}
