import type { IncomingMessage } from 'node:http';
import { Invalid, TooLarge, UnsupportedMediaType } from '../lib/errors.ts';
import { bareType, covering, isForm, isJson } from './content-type.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json.ts';
import type { Body } from './operation.ts';

/** Reads a request's body as its operation says: undefined where it is absent and may be. */
export type ReadBody = (req: IncomingMessage) => Promise<unknown> | AsyncIterable<Uint8Array> | undefined;

/**
 * A peer that goes on sending after its body was refused gets this much time on the wire, in bytes, to see the answer
 * before the connection is cut.
 */
const patience = 64 * 1024 * 1024;

/** Whether an operation takes its body as it comes. */
export const isRaw = ({ contentTypes }: Body) => !contentTypes.some((type) => isJson(type) || isForm(type));

/**
 * The reader for an operation's body: JSON and forms are parsed, anything else is handed over as a stream. Throws
 * `UnsupportedMediaType` for another content type or encoding, `TooLarge` over the limit, `Invalid` for what cannot be
 * parsed.
 */
export function bodyReader(body: Body): ReadBody {
  return isRaw(body) ? rawReader(body) : parsingReader(body);
}

/** No bytes are a body, too; in which encoding they are is the handler's affair. */
function rawReader({ contentTypes, limit }: Body): ReadBody {
  return (req) => {
    const given = req.headers['content-type'];
    if (covering(contentTypes, given === undefined ? '' : bareType(given)) === undefined)
      throw unsupported(contentTypes);
    if (Number(req.headers['content-length']) > limit) throw tooLarge(req, limit);
    return limited(req, limit);
  };
}

function parsingReader(body: Body): ReadBody {
  return (req) => {
    if (!hasBody(req)) {
      if (body.required) throw Invalid('body: required');
      return undefined;
    }
    const type = contentType(req, body.contentTypes);
    const declared = Number(req.headers['content-length']);
    if (declared > body.limit) throw tooLarge(req, body.limit);
    const parse = isForm(type) ? parseForm : parseJson;
    return readAll(req, body.limit).then((bytes) => parsed(bytes, body, parse));
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** A chunked body may turn out to be empty, which counts as none. */
function parsed(bytes: Buffer, body: Body, parse: (bytes: Buffer) => unknown): unknown {
  if (bytes.length > 0) return parse(bytes);
  if (body.required) throw Invalid('body: required');
  return undefined;
}

function contentType({ headers }: IncomingMessage, accepted: readonly string[]): string {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw UnsupportedMediaType('content-encoding: must be identity');
  }
  const given = headers['content-type'];
  if (given !== undefined && accepted.includes(given)) return given;
  const [type = '', ...parameters] = (given ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (!accepted.includes(type)) throw unsupported(accepted);
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw UnsupportedMediaType('content-type: charset must be utf-8');
  }
  return type;
}

const unsupported = (accepted: readonly string[]) =>
  UnsupportedMediaType(`content-type: must be ${accepted.join(' or ')}`);

function readAll(req: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const chunks: Buffer[] = [];
    const done = (settle: () => void) => {
      req.off('data', take).off('end', end).off('error', fail).off('close', fail);
      settle();
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) done(() => reject(tooLarge(req, limit)));
      else chunks.push(chunk);
    };
    const end = () => done(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    const fail = () => done(() => reject(Invalid('body: ended early')));
    req.on('data', take).on('end', end).on('error', fail).on('close', fail);
  });
}

async function* limited(req: IncomingMessage, limit: number): AsyncIterable<Uint8Array> {
  let size = 0;
  const chunks: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw tooLarge(req, limit);
    yield chunk;
  }
}

/**
 * The rest of a refused body is read and dropped for a while: closing at once would reset the connection under the
 * answer, and the client would never learn why.
 */
function tooLarge(req: IncomingMessage, limit: number) {
  let left = patience;
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  return TooLarge(`body: larger than ${limit} bytes`);
}
