/** The file of a resource in the client: its interface, as an editor shows it, and its operations. */
import { successes, type Operation, type Parameter, type ServiceContract } from './contract.ts';
import { callText } from './sdk-examples.ts';
import { itemOf, listOf } from './sdk-lists.ts';
import {
  clientParameters,
  entryText,
  failureTypes,
  isStructured,
  isUnread,
  recordOf,
} from './sdk-operations.ts';
import { docComment, header, lowerFirst, memberName, typeText } from './source.ts';

export function resourceFile(service: ServiceContract, resource: string, operations: Operation[]): string {
  const name = lowerFirst(resource);
  const methods = operations.map((operation) => methodText(service, operation));
  const entries = operations.map(
    (operation) => `${memberName(operation.method)}: ${entryText(service, operation)},`,
  );
  const text = `
/** \`plinth.${service.name}.${name}\` */
export interface ${resource} {
${methods.join('\n\n')}
}

/** The resource on top of a client that the caller created. */
export const ${name}Of = (client: Client): ${resource} =>
  resource<${resource}>(client, '${service.name}.${name}', {
    ${entries.join('\n')}
  });
`;
  return header + imports(text) + text;
}

/** Returns only the imports that the text uses. */
function imports(text: string): string {
  const answers = ['Answer', 'EventStream', 'List', 'RecordedStream'].filter((type) =>
    text.includes(`) => ${type}<`),
  );
  const options = ['EventOptions', 'RequestOptions'].filter((type) => text.includes(`options?: ${type}`));
  const lines = [
    `import type { ${answers.join(', ')} } from '../../runtime/answer.ts';`,
    "import type { Client } from '../../runtime/client.ts';",
    `import type { ${options.join(', ')} } from '../../runtime/options.ts';`,
    "import { resource } from '../../runtime/resource.ts';",
    /\bbody\??: RawBody\b/.test(text) && "import type { RawBody } from '../../runtime/uploads.ts';",
    /\bT\./.test(text) && "import type * as T from './types.ts';",
  ];
  return `\n${lines.filter(Boolean).join('\n')}\n`;
}

/** Returns a method as a property, which needs no `this`, so that the function can be passed on. */
function methodText(service: ServiceContract, operation: Operation): string {
  const required =
    operation.body?.required || clientParameters(operation).some((parameter) => parameter.required);
  const request = `request${required ? '' : '?'}: ${requestText(operation)}`;
  const resumes = operation.events !== null && operation.verb === 'GET';
  const options = `options?: ${resumes ? 'EventOptions' : 'RequestOptions'}`;
  const answer = answerText(service, operation);
  return `${docComment(methodDoc(service, operation))}readonly ${memberName(operation.method)}: (${request}, ${options}) => ${answer};`;
}

/** Returns the doc comment of a method, as an editor shows it. */
export function methodDoc(service: ServiceContract, operation: Operation): string {
  const failures = operation.responses.filter((response) => response.status >= 400);
  return [
    operation.description,
    '',
    `\`${operation.verb} ${operation.path}\`${operation.access === 'public' ? ', which needs no credentials' : ''}`,
    '',
    ...failures.map((failure) => `- ${failure.status}: ${failure.description.replaceAll(/\s+/g, ' ')}`),
    '',
    '@example',
    '```ts',
    `${exampleText(service, operation)};`,
    '```',
  ].join('\n');
}

/** Returns the example of a call: lists and streams are iterated, everything else is awaited. */
export function exampleText(service: ServiceContract, operation: Operation): string {
  const call = callText(service, operation);
  if (operation.events) return `for await (const event of ${call}) console.log(event)`;
  const item = itemText(service, operation);
  if (item === undefined) return `await ${call}`;
  const name = /^T\.\w+$/.test(item) ? lowerFirst(item.slice(2)) : 'item';
  return `for await (const ${name} of ${call}) console.log(${name})`;
}

/** Returns the item type of a paged list. */
function itemText(service: ServiceContract, operation: Operation): string | undefined {
  const item = listOf(service, operation) && itemOf(service, operation);
  return item && typeText(item);
}

/** Returns the type of a request: the parameters by their wire names, flat, and the body as `body`; each with its own comment. */
function requestText(operation: Operation): string {
  const members = clientParameters(operation).map(parameterText);
  const { prefixedHeaders } = operation;
  if (prefixedHeaders) {
    const { prefix, member, count, bytes } = prefixedHeaders;
    const comment = `Sent as headers \`${prefix}<name>\`: at most ${count}, with ${bytes} bytes together.`;
    members.push(
      `${docComment(comment)}${memberName(member)}?: Readonly<Record<string, string>> | undefined;`,
    );
  }
  if (operation.body) {
    const { required } = operation.body;
    members.push(`body${required ? '' : '?'}: ${bodyText(operation)}${required ? '' : ' | undefined'};`);
  }
  return members.length === 0 ? 'Record<never, never>' : `{\n${members.join('\n')}\n}`;
}

function parameterText({ name, required, schema, description }: Parameter): string {
  const type = `${typeText(schema)}${required ? '' : ' | undefined'}`;
  return `${docComment(description ?? '')}${memberName(name)}${required ? '' : '?'}: ${type};`;
}

function bodyText(operation: Operation): string {
  const [media] = Object.values(operation.body?.content ?? {});
  return isStructured(operation) && media ? typeText(media.schema) : 'RawBody';
}

function answerText(service: ServiceContract, operation: Operation): string {
  const failures = failureTypes(service, operation).join(' | ');
  if (operation.events) return streamText(service, operation, failures);
  if (isUnread(operation)) return `Answer<Response, ${failures}>`;
  const item = itemText(service, operation);
  const page = dataText(operation);
  if (item === undefined) return `Answer<${page}, ${failures}>`;
  const isArray = listOf(service, operation)?.items === undefined;
  return `List<${item}, ${failures}${isArray ? '' : `, ${page}`}>`;
}

/** Returns the type of a call's data, with `undefined` when the answer may be empty. */
function dataText(operation: Operation): string {
  const texts = successes(operation).map(({ content }) => (content[0] ? typeText(content[0].schema) : null));
  const given = [...new Set(texts.filter((text) => text !== null))];
  if (given.length === 0) return 'void';
  return [...given, ...(texts.includes(null) ? ['undefined'] : [])].join(' | ');
}

function streamText(service: ServiceContract, operation: Operation, failures: string): string {
  const events = eventText(operation.events ?? {});
  const record = recordOf(operation);
  return record
    ? `RecordedStream<${events}, ${typeText(record)}, ${failures}>`
    : `EventStream<${events}, ${failures}>`;
}

const eventText = (events: NonNullable<Operation['events']>) =>
  Object.entries(events)
    .map(([name, schema]) => `{ event: ${JSON.stringify(name)}; id?: string; data: ${typeText(schema)} }`)
    .join(' | ');
