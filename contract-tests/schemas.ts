/** Checks values against the schemas of the documents with a separate validator. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ServiceName } from '../generated/operations.ts';
import { documentOf, type Schema } from './contract.ts';

/** The place of a schema in a document: the parts of a JSON pointer. */
export type Place = readonly string[];

/** Returns how a value violates the schema, or undefined when the schema allows it. */
export const misfit = (service: ServiceName, place: Place, value: unknown): string | undefined =>
  judge(service, place, value, 'value');

/** Does the same for a value in text form, such as a header's, after converting it to its type. */
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

/** Returns the pointer of a schema. A schema that is only a reference is replaced by its target, since there are far fewer targets. */
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
