/** One TypeScript interface per resource of a service: what its handlers implement. */
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
 * The interfaces of a service, generic in their second argument, the caller's context. Members with a default are
 * present in requests, as they are after validation.
 */
export function interfaces(service: ServiceContract): string {
  const resources = [...byResource(service)].map(([resource, operations]) => {
    const description = tagDescription(service, resource);
    const methods = operations.map((operation) => methodText(operation)).join('\n\n');
    return `${docComment(description)}export interface ${resource}<Call = unknown> {\n${methods}\n}\n`;
  });
  return `${header}import type * as T from './types.ts';\n\n${resources.join('\n')}`;
}

/** What the comment of an interface says of it. */
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

/** The parameters by their wire names, flat, and the body as `body`. */
function requestText(operation: Operation): string {
  const members = operation.parameters.map(parameterText);
  if (operation.body) members.push(...bodyTexts(operation.body));
  return members.length === 0 ? 'Record<never, never>' : `{ ${members.join('; ')} }`;
}

function parameterText({ name, required, schema }: Parameter): string {
  const present = required || schema.default !== undefined;
  return `${memberName(name)}${present ? '' : '?'}: ${typeText(schema)}${present ? '' : ' | undefined'}`;
}

/** A body that is not parsed is always there, though it may be empty, and its type is known only from the request. */
function bodyTexts({ content, required }: NonNullable<Operation['body']>): string[] {
  const media = structured(content);
  if (!media) return ['"Content-Type"?: string | undefined', 'body: AsyncIterable<Uint8Array>'];
  return [`body${required ? '' : '?'}: ${typeText(media.schema)}${required ? '' : ' | undefined'}`];
}

/** Errors are thrown, except for pages: how one that says what is wrong looks is the handler's affair. */
function answerText(operation: Operation): string {
  const answers = operation.responses.filter((response) => response.status < 400);
  const pages = operation.responses
    .filter((response) => response.status >= 400)
    .flatMap(({ content }) => content.filter(({ contentType }) => contentType === 'text/html'));
  const texts = new Set([
    ...answers.flatMap(({ content }) =>
      content.length === 0 ? ['void'] : content.map(contentText(operation)),
    ),
    ...pages.map(contentText(operation)),
  ]);
  const [first, ...others] = texts;
  // Events come at once, or after a look at whether there is anything to follow.
  if (operation.events && others.length === 0) return `${first} | Promise<${first}>`;
  return `Promise<${[...texts].join(' | ')}>`;
}

const contentText =
  ({ events }: Operation) =>
  ({ contentType, schema }: Content): string => {
    if (isJson(contentType)) return typeText(schema);
    if (contentType === 'text/event-stream' && events)
      return `AsyncIterable<${eventText(events)} | { comment: string }>`;
    return 'string | Uint8Array | AsyncIterable<Uint8Array>';
  };

/** A server-sent event: its name says the type of its data. */
function eventText(events: Record<string, Schema>): string {
  return Object.entries(events)
    .map(([name, schema]) => `{ event: ${JSON.stringify(name)}; id?: string; data: ${typeText(schema)} }`)
    .join(' | ');
}
