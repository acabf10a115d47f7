/**
 * The generated part of the client: for each service its wire types, one file per resource, an index and a page of examples;
 * one index for all services; and the README.
 */
import { format } from 'prettier';
import { byResource, type ServiceContract } from './contract.ts';
import { withEnvelope } from './sdk-envelope.ts';
import { handWrittenMembers } from './sdk-members.ts';
import { isCall } from './sdk-operations.ts';
import { readme, servicePage } from './sdk-readme.ts';
import { resourceFile } from './sdk-resource.ts';
import { docComment, header, lowerFirst } from './source.ts';
import { types } from './types.ts';

/** Returns the files as path relative to the root of the repository → text. */
export async function sdkFiles(documents: ServiceContract[]): Promise<Map<string, string>> {
  const contract = documents.map(withEnvelope);
  const services = contract.map(withCallsOnly);
  const files = new Map<string, string>();
  for (const service of services) {
    const folder = `sdk/src/services/${service.name}`;
    files.set(`${folder}/types.ts`, await types(service, { filled: false }));
    for (const [resource, operations] of byResource(service)) {
      const text = resourceFile(service, resource, operations);
      files.set(`${folder}/${kebab(resource)}.ts`, await pretty(text));
    }
    files.set(`${folder}/index.ts`, await pretty(serviceIndex(service)));
  }
  files.set('sdk/src/services/index.ts', await pretty(index(services)));
  for (const service of services)
    files.set(`sdk/docs/${service.name}.md`, await pretty(servicePage(service), 'markdown'));
  files.set('sdk/README.md', await pretty(readme(contract), 'markdown'));
  return files;
}

const withCallsOnly = (service: ServiceContract): ServiceContract => ({
  ...service,
  operations: service.operations.filter(isCall),
});

const pretty = (text: string, parser = 'typescript') =>
  format(text, { parser, printWidth: 110, singleQuote: true });

const kebab = (name: string) =>
  lowerFirst(name).replaceAll(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`);

/** Returns the name of a service's type. The suffix avoids a clash with a resource of the same name. */
const serviceType = (service: ServiceContract) => `${service.document}Service`;

/** Types that the file of a resource uses besides its own. */
const usedNames = new Set(
  'Answer Array Client EventOptions EventStream List RawBody Record RecordedStream RequestOptions Response'.split(
    ' ',
  ),
);

function serviceIndex(service: ServiceContract): string {
  const resources = [...byResource(service).keys()];
  const taken = resources.find((resource) => service.schemas[resource]);
  if (taken) throw new Error(`${service.name}: ${taken} is both a schema and an interface`);
  const hidden = resources.find((resource) => usedNames.has(resource));
  if (hidden) throw new Error(`${service.name}: ${hidden} hides a type that its file uses`);
  const lines = (line: (resource: string, name: string) => string) =>
    resources.map((resource) => line(resource, lowerFirst(resource))).join('\n');
  const byHand = handWrittenMembers(service.name);
  const handWritten = (line: (member: (typeof byHand)[number]) => string) =>
    byHand.map((member) => `${line(member)}\n`).join('');
  return `${header}
import type { Client } from '../../runtime/client.ts';
${handWritten(({ maker, type, from }) => `import { ${maker}, type ${type} } from '../../${from}';`)}${lines((resource, name) => `import { ${name}Of, type ${resource} } from './${kebab(resource)}.ts';`)}

export type * from './types.ts';
export type { ${resources.join(', ')} };
${handWritten(({ exports }) => `export * from '../../${exports}';`)}
${docComment(service.description)}export interface ${serviceType(service)} {
${lines((resource, name) => `readonly ${name}: ${resource};`)}
${handWritten(({ name, type, description }) => `${docComment(description)}readonly ${name}: ${type};`)}}

/** The service on top of a client that the caller created. */
export const ${service.name} = (client: Client): ${serviceType(service)} => ({
${lines((_, name) => `${name}: ${name}Of(client),`)}
${handWritten(({ name, maker }) => `${name}: ${maker}(client),`)}});
`;
}

function index(contract: ServiceContract[]): string {
  const lines = (line: (service: ServiceContract) => string) => contract.map(line).join('\n');
  return `${header}
import { createClient } from '../runtime/client.ts';
import { lazily } from '../runtime/lazily.ts';
import type { ClientOptions } from '../runtime/options.ts';
${lines((service) => `import { ${service.name}, type ${serviceType(service)} } from './${service.name}/index.ts';`)}

export { ${contract.map((service) => service.name).join(', ')} };
export type { ${contract.map(serviceType).join(', ')} };

/** All services of the platform. */
export interface Plinth {
${lines((service) => `${docComment(service.description)}readonly ${service.name}: ${serviceType(service)};`)}
}

/**
 * Creates a client of all services without sending anything. Each service is created when it is first used.
 *
 * @example
 * \`\`\`ts
 * import { createPlinth } from '@plinth/sdk';
 * const plinth = createPlinth({ baseUrl: 'http://127.0.0.1:4000', token });
 * \`\`\`
 */
export const createPlinth = (options: ClientOptions): Plinth =>
  lazily<Plinth>(createClient(options), { ${contract.map((service) => service.name).join(', ')} });
`;
}
