import type { RawBody } from '../../sdk/src/runtime/uploads.ts';
import { Invalid, TooLarge } from '../lib/errors.ts';
import { isRaw, mostValues, unsupported } from './body.ts';
import { bareType, covering } from './content-type.ts';
import type { Context } from './context.ts';
import { parseJson } from './json.ts';
import type { Body, Operation, Validators } from './operation.ts';
import { prefixedMemberReader } from './prefixed-headers.ts';
import { headerReader, requestRules, type Read, type Request } from './request.ts';
import { checkText } from './text.ts';

/** Reads the request of a service of this process; `call` is the context of the asked service. */
export type ReadPortRequest = (given: Given, call: Pick<Context, 'tenant' | 'app' | 'operator'>) => Read;

/** Parameters by wire name, and the body as `body`. */
type Given = Readonly<Record<string, unknown>>;

/**
 * Builds the reader of requests that come through a port. A port must not bypass the bounds of the wire, so the same rules hold,
 * and a body is encoded and parsed again: this costs some microseconds, keeps each bound in one place, and gives the handler a
 * copy that it may change.
 */
export function portRequestReader(operation: Operation, validators: Validators): ReadPortRequest {
  const rules = requestRules(operation, validators);
  const place = placer(operation);
  const { prefixedHeaders: prefixed } = operation;
  const readPrefixed = prefixed && prefixedMemberReader(prefixed);
  const readHeaders = headerReader(operation, validators.header);
  const { body: expected } = operation;
  const raw = expected && isRaw(expected) ? expected : undefined;
  return ({ body: givenBody, ...given }, call) => {
    const { path, query, header, map } = place(given);
    rules.checkPath(path);
    rules.prepareQuery(query, call);
    rules.checkQuery(query);
    const request: Request = { ...path, ...query, ...readHeaders?.({ headers: header }) };
    if (readPrefixed) request[prefixed.member] = readPrefixed(map);
    if (raw) return { request: { ...request, ...rawBody(raw, givenBody as RawBody) } };
    const body = expected ? encodedAndParsed(givenBody, expected) : undefined;
    if (body === undefined) return { request };
    const written = rules.prepareBody(body, call);
    rules.checkBody(body);
    return { request: { ...request, body }, written };
  };
}

interface Placed {
  readonly path: Request;
  readonly query: Request;
  /** The headers by their lower-case names, as on the wire. */
  readonly header: Record<string, string>;
  /** The member whose names and values are headers with a prefix. */
  map?: unknown;
}

function placer({ parameters, prefixedHeaders }: Operation): (given: Given) => Placed {
  const places = new Map(parameters.map((parameter) => [parameter.name, parameter.in]));
  return (given) => {
    const placed: Placed = { path: {}, query: {}, header: {} };
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) continue;
      if (name === prefixedHeaders?.member) {
        placed.map = value;
        continue;
      }
      const place = places.get(name);
      if (place === undefined) throw Invalid(`${name}: unknown`);
      const values = Array.isArray(value) ? [...(value as unknown[])] : value;
      for (const text of [values].flat()) if (typeof text === 'string') checkText(text, name);
      if (place === 'header') placed.header[name.toLowerCase()] = `${value as string | number | boolean}`;
      else placed[place][name] = values;
    }
    return placed;
  };
}

/** An absent body stays absent. */
function encodedAndParsed(given: unknown, body: Body): unknown {
  const text = JSON.stringify(given) as string | undefined;
  if (text === undefined) {
    if (body.required) throw Invalid('body: required');
    return undefined;
  }
  const bytes = Buffer.from(text);
  if (bytes.length > body.limit) throw tooLarge(body);
  return parseJson(bytes, mostValues(body), body);
}

/** The type of a body is the one that the SDK would send: that of a Blob, else the first documented one. */
function rawBody(body: Body, content: RawBody) {
  const [first = '*/*'] = body.contentTypes;
  const usual = first === '*/*' ? 'application/octet-stream' : first;
  const type = (content instanceof Blob && content.type) || usual;
  if (covering(body.contentTypes, bareType(type)) === undefined) throw unsupported(body.contentTypes);
  return { 'Content-Type': type, body: limited(piecesOf(content), body) };
}

/** `Response` turns every form of content that can be sent whole into a stream. */
const piecesOf = (content: RawBody): AsyncIterable<Uint8Array> =>
  typeof content === 'object' && Symbol.asyncIterator in content
    ? content
    : ((new Response(content as BodyInit).body ?? []) as AsyncIterable<Uint8Array>);

async function* limited(pieces: AsyncIterable<Uint8Array>, body: Body): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > body.limit) throw tooLarge(body);
    yield piece;
  }
}

const tooLarge = ({ limit }: Body) => TooLarge(`body: larger than ${limit} bytes`);
