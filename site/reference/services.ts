/** Reads the contract into what the reference shows: services, their resources, and the operations of each. */
import { existsSync } from 'node:fs';
import {
  operations as table,
  services,
  type Operation,
  type ServiceName,
} from '../../generated/operations.ts';
import type {
  DocumentOperation,
  MediaType,
  Parameter as MockedParameter,
  Schema,
} from '../../src/mock/contract/document.ts';
import { readDocument } from '../../src/mock/contract/document.ts';

export interface Parameter extends MockedParameter {
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  /** Whether the server reads it for all operations, so that the page of the service describes it once. */
  readonly 'x-frame'?: true;
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly verb: Operation['verb'];
  /** The paths on a server of all services. */
  readonly paths: readonly string[];
  readonly access: Operation['access'];
  readonly summary: string;
  readonly description: string;
  /** The last paragraph of the description in the contract: which credentials it takes. */
  readonly needs: string;
  readonly parameters: readonly Parameter[];
  readonly body:
    { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> } | undefined;
  readonly answers: Readonly<Record<string, Answer>>;
  /** Names of events or messages, and the schemas of their data. */
  readonly messages: Readonly<Record<string, Schema>>;
}

export interface Resource {
  /** The last part of the address of its page. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly DocumentedOperation[];
}

export interface Service {
  readonly name: ServiceName;
  readonly title: string;
  readonly description: string;
  /** The path at which a server of all services has it. */
  readonly prefix: string;
  /** Whether the server has an implementation; otherwise only the mock and the SDK know the service. */
  readonly served: boolean;
  readonly document: ServiceDocument;
  readonly resources: readonly Resource[];
}

export type ServiceDocument = Omit<ReturnType<typeof readDocument>, 'paths'> & {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
};

interface RawOperation extends DocumentOperation {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Answer>>;
}

/** All services of the contract: first those that the server has, each group in alphabetical order. */
export function readServices(): Service[] {
  const all = (Object.keys(services) as ServiceName[]).map(readService);
  return [...all.filter(({ served }) => served), ...all.filter(({ served }) => !served)];
}

function readService(name: ServiceName): Service {
  const document = readDocument(name) as unknown as ServiceDocument;
  const { title, description } = document.info;
  const prefix = new URL(document.servers[0]!.url).pathname;
  const raw = Object.values(document.paths).flatMap((item) => Object.values(item));
  return {
    name,
    title: capitalized(title.replace(/^Plinth /, '')),
    description,
    prefix,
    served: existsSync(new URL(`../../src/services/${name}/index.ts`, import.meta.url)),
    document,
    resources: document.tags.map((tag) => ({
      ...described(tag),
      operations: raw
        .filter(({ tags }) => tags[0] === tag.name)
        .map((operation) => documented(operation, { name, prefix, document })),
    })),
  };
}

/** The description of a tag begins with what people call it: `Resource types: the meaning of relations.` */
function described({ name, description }: { name: string; description: string }) {
  const [, title = name, rest = description] = /^([^:]+): (.*)$/s.exec(description) ?? [];
  return {
    slug: name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase(),
    title,
    description: capitalized(rest),
  };
}

function documented(
  raw: RawOperation,
  { name, prefix, document }: Pick<Service, 'name' | 'prefix' | 'document'>,
): DocumentedOperation {
  const entry = table.find(({ service, id }) => service === name && id === raw.operationId);
  if (!entry)
    throw new Error(`${name} ${raw.operationId} is not in the operations table: run npm run generate`);
  const paragraphs = raw.description.split('\n\n');
  const needs = paragraphs.at(-1)?.startsWith('Needs ') ? paragraphs.pop()! : '';
  return {
    id: entry.id,
    verb: entry.verb,
    paths: [entry.path, ...(entry.aliases ?? [])].map((path) => prefix + path),
    access: entry.access,
    summary: raw.summary,
    description: paragraphs.join('\n\n'),
    needs,
    parameters: (raw.parameters ?? []).map((parameter) => resolved(parameter, document)),
    body: raw.requestBody && { required: true, ...raw.requestBody },
    answers: raw.responses,
    messages: raw['x-events'] ?? raw['x-messages'] ?? {},
  };
}

function resolved(parameter: Parameter, { components }: ServiceDocument): Parameter {
  if (parameter.$ref === undefined) return parameter;
  const found = components.parameters[parameter.$ref.replace('#/components/parameters/', '')];
  if (!found) throw new Error(`${parameter.$ref} is not in the document`);
  return found;
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
