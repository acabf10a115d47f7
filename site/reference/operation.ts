/** One operation, as a section of the page of its resource. */
import { type Hole, markup, type Markup } from '../../src/http/html.ts';
import { answerText, command } from './examples.ts';
import { fieldsOf, parameterList } from './fields.ts';
import { codeBlock, inline, prose } from './prose.ts';
import { type Answer, type DocumentedOperation, type Parameter, type Service } from './services.ts';
import { typeWords } from './shapes.ts';

export function operationSection(
  service: Service,
  operation: DocumentedOperation,
  servicePage: string,
): Markup {
  const { id, verb, paths, summary, description, needs, parameters, body, messages } = operation;
  const { document } = service;
  const own = parameters.filter((parameter) => !parameter['x-frame']);
  return markup`<section class="operation" aria-labelledby="${id}">
<h2 id="${id}"><a href="#${id}">${inline(summary)}</a></h2>
${paths.map((path) => markup`<p class="path"><span class="verb ${verb.toLowerCase()}">${verb}</span> <code>${path}</code></p>`)}
${prose(description)}
${needs && markup`<div class="needs">${prose(needs)}</div>`}
${own.length > 0 && markup`<h3>Parameters</h3>${parameterList(document, own)}`}
${common(parameters, servicePage)}
${body && markup`<h3>Request body</h3>${Object.entries(body.content).map(([type, { schema }]) => markup`<p class="type"><code>${type}</code>${body.required ? '' : ', optional'}</p>${schema && fieldsOf(document, schema, 'request')}`)}`}
<h3>Responses</h3>
${answersOf(operation).map(([status, answer]) => answerPart(service, status, answer))}
${errorsPart(operation, servicePage)}
${messagesPart(service, messages)}
<h3>Example</h3>
${codeBlock('Request', command(service, operation))}
${exampleAnswer(service, operation)}
</section>`;
}

/** The headers that the server reads for every operation are described on the page of the service. */
function common(parameters: readonly Parameter[], servicePage: string): Hole {
  const names = parameters.filter((parameter) => parameter['x-frame']).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const links = names.map(
    (name, at) =>
      markup`${at > 0 && ', '}<a href="${servicePage}#${anchorOf(name)}"><code>${name}</code></a>`,
  );
  return markup`<p class="common">It also takes the headers ${links}.</p>`;
}

/** The part of the service's page that describes a header. */
const anchorOf = (header: string): string => (header === 'Idempotency-Key' ? 'idempotency' : 'tenancy');

const isError = (status: string): boolean => !/^[123]/.test(status);

const answersOf = ({ answers }: DocumentedOperation) =>
  Object.entries(answers).filter(([status]) => !isError(status));

function answerPart(
  { document }: Service,
  status: string,
  { description, headers, content }: Answer,
): Markup {
  const fields = Object.entries(headers ?? {}).map(
    ([name, { description: text = '', schema }]) =>
      markup`<li><p class="field"><code>${name}</code> <span class="type">${typeWords(document, schema)}</span></p>${prose(text)}</li>`,
  );
  return markup`<div class="answer"><p><strong class="status">${status}</strong> ${inline(description)}</p>
${fields.length > 0 && markup`<details><summary>Headers</summary><ul class="fields">${fields}</ul></details>`}
${Object.entries(content ?? {}).map(([type, { schema }]) => markup`<details data-pagefind-ignore><summary>Body <code>${type}</code></summary>${schema && fieldsOf(document, schema, 'response')}</details>`)}</div>`;
}

function errorsPart({ answers }: DocumentedOperation, servicePage: string): Hole {
  const errors = Object.entries(answers).filter(([status]) => isError(status));
  if (errors.length === 0) return undefined;
  const rows = errors.map(
    ([status, { description }]) =>
      markup`<li><strong class="status">${status}</strong> ${inline(description)}</li>`,
  );
  return markup`<details class="errors" data-pagefind-ignore><summary>Errors ${errors.map(([status]) => markup`<code>${status}</code> `)}</summary><ul>${rows}</ul><p><a href="${servicePage}#errors">The body of an error</a></p></details>`;
}

function messagesPart({ document }: Service, messages: DocumentedOperation['messages']): Hole {
  const parts = Object.entries(messages).map(
    ([name, schema]) =>
      markup`<details data-pagefind-ignore><summary><code>${name}</code></summary>${fieldsOf(document, schema, 'response')}</details>`,
  );
  return parts.length > 0 && markup`<h3>Messages of the stream</h3>${parts}`;
}

function exampleAnswer({ document }: Service, operation: DocumentedOperation): Hole {
  for (const [status, { content }] of answersOf(operation)) {
    for (const [type, media] of Object.entries(content ?? {})) {
      const text = answerText(document, type, media);
      if (text !== undefined) return codeBlock(`Response ${status}`, text);
    }
  }
  return undefined;
}
