/** The file of a resource in the client: its interface, as an editor shows it, and its operations. */
import type { Operation, Parameter, ServiceContract } from './contract.ts';
import { callText } from './sdk-examples.ts';
import { entryText, failureTypes, isUnread, itemType, pagesOf, successes } from './sdk-operations.ts';
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

/** The resource over a client of one's own. */
export const ${name}Of = (client: Client): ${resource} =>
  resource<${resource}>(client, '${service.name}.${name}', {
    ${entries.join('\n')}
  });
`;
  return header + imports(text) + text;
}

/** Only what the text uses. */
function imports(text: string): string {
  const answers = ['Answer', 'EventStream', 'List'].filter((type) => text.includes(`) => ${type}<`));
  const options = ['EventOptions', 'RequestOptions'].filter((type) => text.includes(`options?: ${type}`));
  return `
import type { ${answers.join(', ')} } from '../../runtime/answer.ts';
import type { Client } from '../../runtime/client.ts';
import type { ${options.join(', ')} } from '../../runtime/options.ts';
import { resource } from '../../runtime/resource.ts';
${/\bT\./.test(text) ? "import type * as T from './types.ts';" : ''}
`;
}

/** A property, not a method: it needs no `this`, so that it can be handed around. */
function methodText(service: ServiceContract, operation: Operation): string {
  const required = operation.body?.required || operation.parameters.some((parameter) => parameter.required);
  const request = `request${required ? '' : '?'}: ${requestText(operation)}`;
  const options = `options?: ${operation.events ? 'EventOptions' : 'RequestOptions'}`;
  const answer = answerText(service, operation);
  return `${docComment(methodDoc(service, operation))}readonly ${memberName(operation.method)}: (${request}, ${options}) => ${answer};`;
}

function methodDoc(service: ServiceContract, operation: Operation): string {
  const failures = operation.responses.filter((response) => response.status >= 400);
  return [
    operation.description,
    '',
    `\`${operation.verb} ${operation.path}\``,
    '',
    ...failures.map((failure) => `- ${failure.status}: ${failure.description.split('\n')[0]}`),
    '',
    '@example',
    '```ts',
    `${exampleText(service, operation)};`,
    '```',
  ].join('\n');
}

/** How a call is written: lists and streams are walked, everything else is awaited. */
export function exampleText(service: ServiceContract, operation: Operation): string {
  const call = callText(service, operation);
  if (operation.events) return `for await (const event of ${call}) console.log(event)`;
  const item = pagesOf(service, operation) && itemType(service, operation);
  if (!item) return `await ${call}`;
  const name = /^T\.\w+$/.test(item) ? lowerFirst(item.slice(2)) : 'item';
  return `for await (const ${name} of ${call}) console.log(${name})`;
}

/** The parameters by their wire names, flat, and the body as `body`; each with its own comment. */
function requestText(operation: Operation): string {
  const members = operation.parameters.map(parameterText);
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
  const [contentType = '', media] = Object.entries(operation.body?.content ?? {})[0] ?? [];
  const structured = ['application/json', 'application/x-www-form-urlencoded'].includes(contentType);
  return structured && media ? typeText(media.schema) : 'BodyInit';
}

function answerText(service: ServiceContract, operation: Operation): string {
  const failures = failureTypes(service, operation).join(' | ');
  if (operation.events) return `EventStream<${eventText(operation.events)}, ${failures}>`;
  if (isUnread(operation)) return `Answer<Response, ${failures}>`;
  if (pagesOf(service, operation)) return `List<${itemType(service, operation)}, ${failures}>`;
  const texts = successes(operation).map(({ content }) =>
    content[0] ? typeText(content[0].schema) : 'void',
  );
  return `Answer<${[...new Set(texts)].join(' | ')}, ${failures}>`;
}

const eventText = (events: NonNullable<Operation['events']>) =>
  Object.entries(events)
    .map(([name, schema]) => `{ event: ${JSON.stringify(name)}; id?: string; data: ${typeText(schema)} }`)
    .join(' | ');
