/** The fields of a schema as lists within lists. */
import { type Hole, markup, type Markup } from '../../src/http/html.ts';
import type { Schema } from '../../src/mock/contract/document.ts';
import { inline, prose } from './prose.ts';
import { boundsOf, shapeOf, typeWords, valuesOf } from './shapes.ts';
import type { Parameter, ServiceDocument } from './services.ts';

/** Deeper fields are described where their own operations are. */
const deepest = 4;

/** Who writes the fields: of a request, those are marked that must be there; of a response, those that may be absent. */
export type Direction = 'request' | 'response';

/** Where in a body a field is. */
interface Place {
  readonly direction: Direction;
  /** The names of the schemas around it. */
  readonly trail: readonly string[];
}

/** The fields of a body, or of each form that it may have. */
export function fieldsOf(document: ServiceDocument, schema: Schema, direction: Direction): Markup {
  const list = listOf(document, schema, { direction, trail: [] });
  return list ?? markup`<div class="type">${typeWords(document, schema)}${notes(document, schema)}</div>`;
}

/** Parameters, as fields with the place where they are sent. */
export function parameterList(document: ServiceDocument, parameters: readonly Parameter[]): Markup {
  const items = parameters.map(({ name, in: place, required = false, description, schema }) =>
    item(
      document,
      { name, place, required, schema: description === undefined ? schema : { ...schema, description } },
      { direction: 'request', trail: [] },
    ),
  );
  return markup`<ul class="fields">${items}</ul>`;
}

interface Field {
  readonly name: string;
  readonly place?: string;
  readonly required: boolean;
  readonly schema: Schema;
}

function listOf(document: ServiceDocument, written: Schema, place: Place): Markup | undefined {
  const { direction, trail } = place;
  const { schema, name, variants } = shapeOf(document, written);
  if (trail.length >= deepest || (name !== undefined && trail.includes(name))) return undefined;
  const deeper = { direction, trail: [...trail, name ?? ''] };
  if (variants.length > 0) return variantsOf(document, variants, place);
  if (schema.items) return listOf(document, schema.items, deeper);
  if (schema.properties) {
    const required = (schema['required'] ?? []) as readonly string[];
    const fields = Object.entries(schema.properties).map(([key, property]) =>
      item(document, { name: key, required: required.includes(key), schema: property }, deeper),
    );
    return fields.length === 0 ? undefined : markup`<ul class="fields">${fields}</ul>`;
  }
  const values = valuesOf(schema);
  return values && listOf(document, values, deeper);
}

function variantsOf(document: ServiceDocument, variants: readonly Schema[], place: Place) {
  const lists = variants.flatMap((variant) => {
    const list = listOf(document, variant, place);
    const { name, schema } = shapeOf(document, variant);
    return list ? [folded(name ?? typeWords(document, variant), list, schema['description'] as string)] : [];
  });
  return lists.length === 0 ? undefined : markup`<p class="variants">One of:</p>${lists}`;
}

function item(document: ServiceDocument, { name, place, required, schema }: Field, within: Place): Markup {
  const nested = listOf(document, schema, within);
  return markup`<li><p class="field"><code>${name}</code> <span class="type">${typeWords(document, schema)}${place && `, in ${places[place] ?? place}`}</span>${mark(required, within.direction)}</p>${notes(document, schema)}${nested && folded(`Fields of ${name}`, nested)}</li>`;
}

function mark(required: boolean, direction: Direction): Hole {
  if (direction === 'request') return required && markup` <span class="required">required</span>`;
  return !required && markup` <span class="type">may be absent</span>`;
}

const places: Readonly<Record<string, string>> = { path: 'the path', query: 'the query', header: 'a header' };

function notes(document: ServiceDocument, written: Schema): Hole {
  const { schema } = shapeOf(document, written);
  const bounds = boundsOf(document, written);
  const text = written['description'] ?? schema['description'];
  return [
    typeof text === 'string' && prose(text),
    bounds.length > 0 && markup`<p class="bounds">${inline(bounds.join(' · '))}</p>`,
  ];
}

const folded = (label: string, content: Markup, description?: string): Markup =>
  markup`<details><summary>${label}</summary>${description && prose(description)}${content}</details>`;
