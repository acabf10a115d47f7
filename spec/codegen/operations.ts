/** The operations table: what the runtime, the mock and the tests know of the contract. */
import type { Operation, Parameter, ServiceContract } from './contract.ts';
import { header } from './source.ts';

const declarations = `
export type Verb = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * \`read\`, \`write\` and \`admin\` need the scope \`<service>:<access>\`; \`operator\` the operator; \`key\` any API key;
 * \`user\` a signed-in user; \`any\` any credential.
 */
export type Access = 'public' | 'read' | 'write' | 'admin' | 'operator' | 'key' | 'user' | 'any';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  /** It may come several times: \`a=1&a=2\`. */
  readonly array?: true;
}

export interface Operation {
  readonly service: ServiceName;
  /** Interface and method: \`Roles_create\`. */
  readonly id: string;
  readonly resource: string;
  readonly method: string;
  readonly verb: Verb;
  /** Relative to the service's base URL, with \`{parameters}\`. */
  readonly path: string;
  readonly access: Access;
  readonly parameters: readonly Parameter[];
  readonly body: null | {
    readonly contentTypes: readonly string[];
    readonly required: boolean;
    /** Bytes. */
    readonly limit: number;
    /** Members that only the server sets: accepted and ignored. */
    readonly ignored: readonly string[];
  };
  readonly responses: readonly { readonly status: number; readonly contentType: string | null; readonly headers: readonly string[] }[];
}
`;

export function operationsTable(contract: ServiceContract[]): string {
  const names = contract.map((service) => `'${service.name}'`).join(' | ');
  const services = contract.map(
    (service) =>
      `  ${service.name}: { title: ${JSON.stringify(service.title)}, document: '${service.document}' },`,
  );
  const entries = contract.flatMap((service) =>
    service.operations.map((operation) => `  ${JSON.stringify(entry(service.name, operation))},`),
  );
  return [
    header,
    `export type ServiceName = ${names};`,
    declarations,
    '/** The services of the contract; `document` is the file in tsp-output/openapi. */',
    'export const services: Readonly<Record<ServiceName, { readonly title: string; readonly document: string }>> = {',
    ...services,
    '};',
    '',
    'export const operations: readonly Operation[] = [',
    ...entries,
    '];',
    '',
  ].join('\n');
}

function parameterEntry({ name, in: place, required, schema }: Parameter) {
  return { name, in: place, required, ...(schema.type === 'array' && { array: true }) };
}

function entry(service: string, operation: Operation) {
  const { id, resource, method, verb, path, access, body } = operation;
  return {
    service,
    id,
    resource,
    method,
    verb,
    path,
    access,
    parameters: operation.parameters.map(parameterEntry),
    body: body && {
      contentTypes: Object.keys(body.content),
      required: body.required,
      limit: body.limit,
      ignored: body.ignored,
    },
    responses: operation.responses.map(({ status, contentType, headers }) => ({
      status,
      contentType,
      headers,
    })),
  };
}
