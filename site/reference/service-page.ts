/** The page in front of a service's reference: what is true of all its operations. */
import { type Hole, markup, type Markup } from '../../src/http/html.ts';
import type { Schema } from '../../src/mock/contract/document.ts';
import { exampleOf } from '../../src/mock/contract/document.ts';
import { fieldsOf, parameterList } from './fields.ts';
import { codeBlock, inline, prose } from './prose.ts';
import type { DocumentedOperation, Parameter, Resource, Service } from './services.ts';

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Hole;
}

export interface Surroundings {
  /** The address of the page of a resource. */
  readonly pageOf: (resource: Resource) => string;
  /** Links beside the page: its guide, its document, its interactive reference. */
  readonly links: readonly (readonly [href: string, text: string])[];
}

export function serviceIntroduction(
  { description, prefix, served }: Service,
  { links }: Surroundings,
): Markup {
  return markup`${prose(description)}
${!served && markup`<p class="absent"><strong>The server does not have this service yet.</strong> Its contract is written, and the mock and the SDK know it.</p>`}
<p>The paths of the service begin with <code>${prefix}</code>.</p>
${links.length > 0 && markup`<p class="links">${links.map(([href, text]) => markup`<a href="${href}">${text}</a> `)}</p>`}`;
}

/** The sections of the page; a service without paging, for example, has no section about it. */
export function serviceSections(service: Service, surroundings: Surroundings): Section[] {
  const sections: Section[] = [
    { id: 'authentication', title: 'Authentication', content: authentication(service) },
    { id: 'tenancy', title: 'On behalf of others', content: onBehalf(service) },
    { id: 'errors', title: 'Errors', content: errors(service) },
    { id: 'paging', title: 'Paging', content: paging(service) },
    { id: 'idempotency', title: 'Idempotency', content: idempotency(service) },
    { id: 'operations', title: 'Operations', content: overview(service, surroundings) },
  ];
  return sections.filter(({ content }) => content !== undefined);
}

function authentication({ document }: Service): Hole {
  const schemes = Object.entries(document.components.securitySchemes).map(
    ([name, scheme]) =>
      markup`<li><p class="field">${wordsOf(scheme, name)}</p>${prose(scheme.description)}</li>`,
  );
  return markup`<ul class="fields">${schemes}</ul>`;
}

/** How a credential is sent. */
function wordsOf(scheme: Readonly<Record<string, unknown>>, name: string): Markup {
  const { type, scheme: kind, name: field, in: place } = scheme as Record<string, string | undefined>;
  if (type === 'http') return markup`<code>Authorization: ${kind === 'basic' ? 'Basic' : 'Bearer'} …</code>`;
  if (type === 'apiKey')
    return markup`<code>${field}</code> <span class="type">in ${place === 'header' ? 'a header' : `the ${place}`}</span>`;
  return markup`${name}`;
}

const operationsOf = ({ resources }: Service): DocumentedOperation[] =>
  resources.flatMap(({ operations }) => operations);

const frameHeaders = ({ document }: Service): Parameter[] =>
  Object.values(document.components.parameters).filter((parameter) => parameter['x-frame']);

const repeatKey = 'Idempotency-Key';

function onBehalf(service: Service): Hole {
  const headers = frameHeaders(service).filter(({ name }) => name !== repeatKey);
  if (headers.length === 0) return undefined;
  return parameterList(service.document, headers);
}

function errors(service: Service): Hole {
  const { document } = service;
  const rows = statuses(operationsOf(service)).map(
    ([status, description]) =>
      markup`<li><strong class="status">${status}</strong> ${inline(description)}</li>`,
  );
  const envelope = envelopeOf(operationsOf(service));
  return markup`${envelope && markup`<p>A failed request has a body like this one:</p>${codeBlock('Response 400', JSON.stringify(exampleOf(document, envelope), null, 2))}<details><summary>Fields of an error</summary>${fieldsOf(document, envelope, 'response')}</details>`}<ul class="statuses">${rows}</ul>`;
}

/** The statuses of errors, each with the description that most operations give. */
function statuses(operations: readonly DocumentedOperation[]): [status: string, description: string][] {
  const seen = new Map<string, string[]>();
  for (const { answers } of operations)
    for (const [status, { description }] of Object.entries(answers))
      if (/^[45]/.test(status)) seen.set(status, [...(seen.get(status) ?? []), description]);
  return [...seen]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([status, texts]) => [status, mostFrequent(texts)]);
}

/** The schema of the body with which most operations refuse a malformed request. */
function envelopeOf(operations: readonly DocumentedOperation[]): Schema | undefined {
  const schemas = operations.flatMap(({ answers }) => {
    const schema = answers['400']?.content?.['application/json']?.schema;
    return schema ? [schema] : [];
  });
  const name = mostFrequent(schemas.map(({ $ref = '' }) => $ref));
  return schemas.find(({ $ref }) => $ref === name);
}

function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

const pagingNames = ['limit', 'offset', 'cursor'];

/** The parameters of lists, each as most lists have it, and the header in which the next cursor is returned. */
function paging(service: Service): Hole {
  const { document } = service;
  const lists = operationsOf(service).filter(({ parameters }) =>
    parameters.some(({ name, in: place }) => place === 'query' && pagingNames.includes(name)),
  );
  if (lists.length === 0) return undefined;
  const parameters = pagingNames.flatMap((name) => {
    const found = lists.flatMap((list) => list.parameters.filter((parameter) => parameter.name === name));
    const usual = mostFrequent(found.map((parameter) => JSON.stringify(parameter)));
    return found.filter((parameter) => JSON.stringify(parameter) === usual).slice(0, 1);
  });
  const header = lists.map(({ answers }) => answers['200']?.headers?.['X-Next-Cursor']).find(Boolean);
  return markup`${parameterList(document, parameters)}${header && markup`<p>The response header <code>X-Next-Cursor</code>: ${inline(header.description ?? '')}</p>`}`;
}

function idempotency(service: Service): Hole {
  const key = frameHeaders(service).find(({ name }) => name === repeatKey);
  return key && parameterList(service.document, [key]);
}

function overview({ resources }: Service, { pageOf }: Surroundings): Markup {
  const parts = resources.map(
    (
      resource,
    ) => markup`<h3><a href="${pageOf(resource)}">${resource.title}</a></h3>${prose(resource.description)}
<ul class="operations">${resource.operations.map(({ id, verb, paths, summary }) => markup`<li><a href="${pageOf(resource)}#${id}">${inline(summary)}</a> <span class="path"><span class="verb ${verb.toLowerCase()}">${verb}</span> <code>${paths[0]}</code></span></li>`)}</ul>`,
  );
  return markup`${parts}`;
}
