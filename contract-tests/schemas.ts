/** Values against the schemas of the documents, by a validator of the tests' own. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ServiceName } from '../generated/operations.ts';
import { documentOf, type Schema } from './contract.ts';

/** Where a schema stands in a document: the parts of a JSON pointer. */
export type Place = readonly string[];

/** What the schema says against a value; undefined for one that it allows. */
export const misfit = (service: ServiceName, place: Place, value: unknown): string | undefined =>
  judge(service, place, value, 'value');

/** The same for a value that is written as text, such as a header's, and is read as what it should be. */
export const textMisfit = (service: ServiceName, place: Place, text: string): string | undefined =>
  judge(service, place, text, 'text');

const judges = new Map<string, ValidateFunction>();
const ajvs = { value: new Map<ServiceName, Ajv2020>(), text: new Map<ServiceName, Ajv2020>() };

function judge(
  service: ServiceName,
  place: Place,
  value: unknown,
  kind: keyof typeof ajvs,
): string | undefined {
  const $ref = `plinth:${service}#${pointerTo(service, place)}`;
  let validate = judges.get(`${kind} ${$ref}`);
  if (!validate) {
    validate = ajvOf(service, kind).compile({ $ref });
    judges.set(`${kind} ${$ref}`, validate);
  }
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
}

/** A schema that is nothing but a reference is judged as what it refers to, of which there are far fewer. */
function pointerTo(service: ServiceName, place: Place): string {
  const schema = place.reduce<unknown>(
    (node, part) => (node as Record<string, unknown>)[part],
    documentOf(service),
  ) as Schema;
  return schema.$ref?.slice(1) ?? `/${place.map((part) => encodeURI(escape(part))).join('/')}`;
}

function ajvOf(service: ServiceName, kind: keyof typeof ajvs): Ajv2020 {
  let ajv = ajvs[kind].get(service);
  if (!ajv) {
    ajv = new Ajv2020({ strict: false, coerceTypes: kind === 'text' });
    addFormats.default(ajv);
    ajv.addSchema({ $id: `plinth:${service}`, ...documentOf(service) });
    ajvs[kind].set(service, ajv);
  }
  return ajv;
}

const escape = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');
