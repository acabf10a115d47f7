/** Examples of requests and answers, from the examples of the contract. */
import { exampleOf, exampleOfMedia, type MediaType } from '../../src/mock/contract/document.ts';
import type { DocumentedOperation, Parameter, Service } from './services.ts';

/** A command that sends the request, as one would type it into a shell. */
export function command({ document }: Service, operation: DocumentedOperation): string {
  const { verb, paths, parameters, access } = operation;
  const required = parameters.filter((parameter) => parameter.required);
  const path = paths[0]!.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(document, required, name));
  const query = required.filter((parameter) => parameter.in === 'query');
  const search = query.map(({ name }) => `${name}=${valueOf(document, required, name)}`).join('&');
  const url = `$PLINTH_URL${path}${search && `?${search}`}`;
  const headers = required.filter((parameter) => parameter.in === 'header');
  return [
    verb === 'HEAD' ? `curl -I "${url}"` : `curl${verb === 'GET' ? '' : ` -X ${verb}`} "${url}"`,
    ...(access === 'public' ? [] : ['-H "Authorization: Bearer $PLINTH_TOKEN"']),
    ...headers.map(
      ({ name, schema, example }) => `-H '${name}: ${text(example ?? exampleOf(document, schema))}'`,
    ),
    ...bodyLines(document, operation),
  ].join(' \\\n  ');
}

type Document = Service['document'];

function bodyLines(document: Document, { body }: DocumentedOperation): string[] {
  const [[type, media] = []] = Object.entries(body?.content ?? {});
  if (type === undefined || media === undefined) return [];
  const example = exampleOfMedia(document, media);
  if (/json/.test(type) && example !== undefined)
    return [
      `-H 'Content-Type: ${type}'`,
      `-d '${JSON.stringify(example, null, 2).replaceAll("'", "'\\''")}'`,
    ];
  if (type === 'application/x-www-form-urlencoded' && example !== null && typeof example === 'object')
    return Object.entries(example).map(([name, value]) => `--data-urlencode '${name}=${text(value)}'`);
  return [`-H 'Content-Type: ${type === '*/*' ? 'application/octet-stream' : type}'`, '--data-binary @file'];
}

function valueOf(document: Document, parameters: readonly Parameter[], name: string): string {
  const found = parameters.find((parameter) => parameter.name === name);
  const example = found && (found.example ?? exampleOf(document, found.schema));
  return example === undefined ? `{${name}}` : encodeURIComponent(text(example)).replaceAll('%2F', '/');
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** The example of an answer's content; undefined when the contract has none. */
export function answerText(document: Document, type: string, media: MediaType): string | undefined {
  const example = exampleOfMedia(document, media);
  if (example === undefined) return undefined;
  return /json/.test(type) && !/ndjson/.test(type) ? JSON.stringify(example, null, 2) : text(example);
}
