/** One TypeScript interface per resource of a service, which its handlers implement. */
import {
  byResource,
  isJson,
  structured,
  type Content,
  type Operation,
  type Parameter,
  type Schema,
  type ServiceContract,
} from './contract.ts';
import { docComment, header, memberName, typeText } from './source.ts';

/**
 * Returns the interfaces of a service, generic in the caller's context, which is their second argument. Members with a default
 * are present in requests, as they are after validation.
 */
export function interfaces(service: ServiceContract): string {
  const resources = [...byResource(service)].map(([resource, operations]) => {
    const description = tagDescription(service, resource);
    const methods = operations.map((operation) => methodText(operation)).join('\n\n');
    return `${docComment(description)}export interface ${resource}<Call = unknown> {\n${methods}\n}\n`;
  });
  const has = (holds: (operation: Operation) => boolean) => service.operations.some(holds);
  const types = [
    ...(has(({ streamed }) => streamed) ? [streamedType] : []),
    ...(has(({ responses }) => responses.some(({ status }) => status === 101)) ? [takeOverType] : []),
  ];
  return [`${header}import type * as T from './types.ts';\n`, ...types, ...resources].join('\n');
}

/** The type of JSON that is sent as it is produced: items of an array, or an object whose arrays may arrive item by item. */
const streamedType = `/** JSON that is sent as it is produced. */
export type Streamed<Whole> = Whole extends readonly (infer Item)[]
  ? AsyncIterable<Item>
  : { [Name in keyof Whole]: Whole[Name] | (Whole[Name] extends readonly (infer Item)[] ? AsyncIterable<Item> : never) };
`;

/** What a handler returns that turns the connection into another protocol. */
const takeOverType = `/** Takes a connection over after the \`101 Switching Protocols\`. */
export type TakeOver = (connection: {
  socket: import('node:stream').Duplex;
  head: Uint8Array;
  ending: AbortSignal;
}) => void;
`;

/** Returns the description in an interface's doc comment. */
export function tagDescription(service: ServiceContract, resource: string): string {
  const tags = (service.openapi['tags'] ?? []) as { name: string; description?: string }[];
  return tags.find((tag) => tag.name === resource)?.description ?? '';
}

function methodText(operation: Operation): string {
  return `${docComment(methodDoc(operation), '  ')}  ${memberName(operation.method)}(request: ${requestText(operation)}, call: Call): ${answerText(operation)};`;
}

function methodDoc(operation: Operation): string {
  const failures = operation.responses.filter((response) => response.status >= 400);
  return [
    operation.description,
    '',
    `\`${operation.verb} ${operation.path}\``,
    '',
    ...failures.map((failure) => `- ${failure.status}: ${failure.description.split('\n')[0]}`),
  ].join('\n');
}

/** Returns the type of a request: the parameters by their wire names, flat, and the body as `body`. */
function requestText(operation: Operation): string {
  const members = operation.parameters.map(parameterText);
  const { prefixedHeaders } = operation;
  if (prefixedHeaders) members.push(`${memberName(prefixedHeaders.member)}: Record<string, string>`);
  if (operation.body) members.push(...bodyTexts(operation.body));
  return members.length === 0 ? 'Record<never, never>' : `{ ${members.join('; ')} }`;
}

function parameterText({ name, required, schema }: Parameter): string {
  const present = required || schema.default !== undefined;
  return `${memberName(name)}${present ? '' : '?'}: ${typeText(schema)}${present ? '' : ' | undefined'}`;
}

/** An unparsed body is always present, though it may be empty, and only the request gives its type. */
function bodyTexts({ content, required }: NonNullable<Operation['body']>): string[] {
  const media = structured(content);
  if (!media) return ['"Content-Type"?: string | undefined', 'body: AsyncIterable<Uint8Array>'];
  return [`body${required ? '' : '?'}: ${typeText(media.schema)}${required ? '' : ' | undefined'}`];
}

/** Errors are thrown, except for error pages: the handler decides what such a page looks like. */
function answerText(operation: Operation): string {
  const answers = operation.responses.filter((response) => response.status < 400);
  const pages = operation.responses
    .filter((response) => response.status >= 400)
    .flatMap(({ content }) => content.filter(({ contentType }) => contentType === 'text/html'));
  const texts = new Set([
    ...answers.flatMap(({ content, status }) =>
      content.length === 0 ? [emptyText(status)] : content.map(contentText(operation)),
    ),
    ...pages.map(contentText(operation)),
  ]);
  const [first, ...others] = texts;
  // Events start at once, or after a check whether there is anything to follow.
  if (operation.events && others.length === 0) return `${first} | Promise<${first}>`;
  return `Promise<${[...texts].join(' | ')}>`;
}

/** A handler answers 101 with the function that takes the connection over. */
const emptyText = (status: number): string => (status === 101 ? 'TakeOver' : 'void');

const contentText =
  ({ events, lines, streamed }: Operation) =>
  ({ contentType, schema }: Content): string => {
    if (isJson(contentType)) return streamed ? `Streamed<${typeText(schema)}>` : typeText(schema);
    if (contentType === 'application/x-ndjson' && lines) return `AsyncIterable<${typeText(lines)}>`;
    if (contentType === 'text/event-stream' && events)
      return `AsyncIterable<${eventText(events)} | { comment: string } | { retry: number }>`;
    return 'string | Uint8Array | AsyncIterable<Uint8Array>';
  };

/** Returns the type of server-sent events, in which the name determines the type of the data. */
function eventText(events: Record<string, Schema>): string {
  return Object.entries(events)
    .map(([name, schema]) => `{ event: ${JSON.stringify(name)}; id?: string; data: ${typeText(schema)} }`)
    .join(' | ');
}
