import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Invalid, TooLarge, UnsupportedMediaType } from '../lib/errors.ts';
import { allowTime, inTime, type BodyTime } from './body-time.ts';
import { bareType, covering, isForm, isJson } from './content-type.ts';
import { askForBody } from './expectation.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json.ts';
import type { Body } from './operation.ts';

/** Reads a request's body as its operation declares it; returns undefined when an optional body is absent. */
export type ReadBody = (req: IncomingMessage) => Promise<unknown> | AsyncIterable<Uint8Array> | undefined;

/**
 * Bytes that the server still reads from a peer whose body it refused, so that the peer can see the answer before the
 * connection is cut.
 */
const patience = 64 * 1024 * 1024;

/** How long the server reads them. */
const longestDropMs = 60_000;

/** The most bytes of a body that is parsed as soon as it is there. */
const mostAtOnce = 64 * 1024;

/** The most members and items that a JSON body may have, per MiB of its limit; a limit below 1 MiB counts as 1 MiB. */
const mostPerMebibyte = 20_000;

/** The most members and items that a body of the operation may have. */
export const mostValues = ({ limit }: Body): number =>
  Math.floor(mostPerMebibyte * Math.max(1, limit / 1024 ** 2));

/** Whether an operation takes its body unparsed. */
export const isRaw = ({ contentTypes }: Body) => !contentTypes.some((type) => isJson(type) || isForm(type));

/**
 * Builds the reader for an operation's body: JSON and forms are parsed, anything else is passed on as a stream. The reader throws
 * `UnsupportedMediaType` for another content type or encoding, `TooLarge` above the limit, and `Invalid` for a body that cannot
 * be parsed.
 */
export function bodyReader(body: Body, time: BodyTime | undefined): ReadBody {
  const read = isRaw(body) ? rawReader(body, time) : parsingReader(body, time);
  const totalMs = time?.totalMs;
  if (totalMs === undefined) return read;
  return (req) => {
    allowTime(req, totalMs);
    return read(req);
  };
}

/** An empty body counts as a body here; the handler deals with the content encoding. */
function rawReader({ contentTypes, limit }: Body, time: BodyTime | undefined): ReadBody {
  return (req) => {
    const given = req.headers['content-type'];
    if (covering(contentTypes, given === undefined ? '' : bareType(given)) === undefined)
      throw unsupported(contentTypes);
    if (Number(req.headers['content-length']) > limit) throw tooLarge(req, limit);
    return limited(req, limit, time);
  };
}

/** The body of a request that is not of the contract, as a stream. */
export function streamedBody(
  req: IncomingMessage,
  limit: number,
  time: BodyTime,
): AsyncGenerator<Buffer, void> {
  if (time.totalMs !== undefined) allowTime(req, time.totalMs);
  if (Number(req.headers['content-length']) > limit) throw tooLarge(req, limit);
  return limited(req, limit, time);
}

function parsingReader(body: Body, time: BodyTime | undefined): ReadBody {
  const most = mostValues(body);
  const parseCounted = (bytes: Buffer) => parseJson(bytes, most, body);
  return (req) => {
    if (!hasBody(req)) {
      if (body.required) throw Invalid('body: required');
      return undefined;
    }
    const type = contentType(req, body.contentTypes);
    const declared = Number(req.headers['content-length']);
    if (declared > body.limit) throw tooLarge(req, body.limit);
    const parse = isForm(type) ? parseForm : parseCounted;
    return readAll(req, body.limit, time).then((bytes) =>
      bytes.length <= mostAtOnce
        ? parsed(bytes, body, parse)
        : ownTurn().then(() => parsed(bytes, body, parse)),
    );
  };
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other long body has. A body of some megabytes takes a good part of a turn to parse, and
 * those of several requests often arrive in one.
 */
function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** A chunked body may turn out to be empty, which counts as no body. */
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

export const unsupported = (accepted: readonly string[]) =>
  UnsupportedMediaType(`content-type: must be ${accepted.join(' or ')}`);

async function readAll(req: IncomingMessage, limit: number, time: BodyTime | undefined): Promise<Buffer> {
  if (time === undefined) return readAtOnce(req, limit);
  const pieces: Uint8Array[] = [];
  for await (const piece of limited(req, limit, time)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function readAtOnce(req: IncomingMessage, limit: number): Promise<Buffer> {
  askForBody(req);
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

/** The client is asked for the body only when the reader begins, so that the handler can refuse the request before. */
async function* limited(
  req: IncomingMessage,
  limit: number,
  time: BodyTime | undefined,
): AsyncGenerator<Buffer, void> {
  askForBody(req);
  let size = 0;
  const chunks: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of time ? inTime(chunks, time) : chunks) {
      size += chunk.length;
      if (size > limit) throw TooLarge(larger(limit));
      yield chunk;
    }
  } finally {
    // The reader may refuse the content before its end, and some clients read no response before they have sent everything.
    if (!req.readableEnded && !req.destroyed) dropRest(req);
  }
}

const larger = (limit: number) => `body: larger than ${limit} bytes`;

function tooLarge(req: IncomingMessage, limit: number) {
  dropRest(req);
  return TooLarge(larger(limit));
}

/**
 * Reads and drops the rest of a refused body, up to `patience`: closing at once would reset the connection before the
 * client has read the answer, and the client would never learn the reason.
 */
function dropRest(req: IncomingMessage): void {
  let left = patience;
  const cut = setTimeout(() => req.destroy(), longestDropMs).unref();
  req.once('close', () => clearTimeout(cut));
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
}
