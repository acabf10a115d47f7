import { createHash } from 'node:crypto';
import { s3Error } from '../protocol/errors.ts';
import { type Scope, scopeText, sha256Hex, signature } from '../signing/canonical.ts';
import { isSame, type Verified } from '../signing/signature.ts';

export interface ChunkedOptions {
  /** The bytes of the content, as the client announces them. */
  readonly length: number;
  /** The signature with which those of the chunks begin; undefined when the chunks are not signed. */
  readonly signed: Verified | undefined;
  /** The names of the headers that follow the content, in lower case. */
  readonly trailers: readonly string[];
}

/** The most bytes of a line before a chunk; a size and a signature need half as many. */
const longestLine = 256;
/** The most bytes of all headers after the content. */
const mostTrailer = 4096;
const emptyHash = sha256Hex('');

/**
 * Decodes a body of the content encoding `aws-chunked`. Each piece of the content is passed on as soon as it arrives, and an error
 * is thrown before the last one is when a chunk or the trailer proves to be wrong: whoever receives the pieces must not rely on them
 * before the decoder has ended.
 */
export class ChunkedDecoder {
  readonly #options: ChunkedOptions;
  #state: 'line' | 'data' | 'end of data' | 'trailer' | 'done' = 'line';
  /** What is still missing of the current line, trailer or line end. */
  #kept = Buffer.alloc(0);
  #left = 0;
  #received = 0;
  #previous: string;
  #claimed = '';
  #hash = createHash('sha256');
  readonly #trailer = new Map<string, string>();

  constructor(options: ChunkedOptions) {
    this.#options = options;
    this.#previous = options.signed?.seed ?? '';
  }

  /** The headers after the content; complete when `end` has returned. */
  get trailer(): ReadonlyMap<string, string> {
    return this.#trailer;
  }

  /** Takes a piece of the body and returns the content in it. */
  push(piece: Buffer): Buffer | undefined {
    const content: Buffer[] = [];
    let rest: Buffer = piece;
    while (rest.length > 0) {
      if (this.#state === 'done') throw malformed('there is data after its end');
      rest = this.#state === 'data' ? this.#takeData(rest, content) : this.#takeLine(rest);
    }
    return content.length > 1 ? Buffer.concat(content) : content[0];
  }

  /** Throws unless the body is complete. */
  end(): void {
    if (this.#state !== 'done') throw s3Error('IncompleteBody');
    if (this.#received !== this.#options.length)
      throw s3Error('IncompleteBody', 'The content is not as long as x-amz-decoded-content-length says');
  }

  #takeData(rest: Buffer, content: Buffer[]): Buffer {
    const data = rest.subarray(0, this.#left);
    this.#left -= data.length;
    if (this.#options.signed) this.#hash.update(data);
    content.push(data);
    if (this.#left === 0) {
      this.#checkChunk();
      this.#state = 'end of data';
    }
    return rest.subarray(data.length);
  }

  /** Lines end with CR and LF; the search begins where the last one ended, so that single bytes cost no more than whole lines. */
  #takeLine(rest: Buffer): Buffer {
    const limit = this.#state === 'trailer' ? mostTrailer : longestLine;
    const end = rest.indexOf(10);
    const taken = end === -1 ? rest : rest.subarray(0, end + 1);
    if (this.#kept.length + taken.length > limit) throw malformed('a line is too long');
    const line = this.#kept.length === 0 ? taken : Buffer.concat([this.#kept, taken]);
    if (end === -1) {
      // A copy, because the piece is part of a buffer that may be much larger.
      this.#kept = Buffer.from(line);
      return rest.subarray(rest.length);
    }
    this.#kept = Buffer.alloc(0);
    this.#readLine(lineOf(line));
    return rest.subarray(end + 1);
  }

  #readLine(line: string): void {
    if (this.#state === 'line') return this.#beginChunk(line);
    if (this.#state === 'trailer') return this.#takeTrailer(line);
    if (line !== '') throw malformed('a chunk is longer than its size');
    this.#state = 'line';
  }

  #beginChunk(line: string): void {
    const found = /^([0-9a-fA-F]{1,10})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
    if (!found) throw malformed('a chunk has no size');
    const [, size = '', claimed = ''] = found;
    if (this.#options.signed && claimed === '')
      throw s3Error('SignatureDoesNotMatch', 'A chunk is not signed');
    this.#left = Number.parseInt(size, 16);
    this.#received += this.#left;
    if (this.#received > this.#options.length)
      throw s3Error('IncompleteBody', 'The content is longer than x-amz-decoded-content-length says');
    this.#claimed = claimed;
    if (this.#left > 0) {
      this.#state = 'data';
      return;
    }
    this.#checkChunk();
    this.#state = 'trailer';
  }

  #checkChunk(): void {
    const { signed } = this.#options;
    if (!signed) return;
    const text = textOfChunk(signed, this.#previous, this.#hash.digest('hex'));
    const right = signature(signed.key, text);
    if (!isSame(right, this.#claimed))
      throw s3Error('SignatureDoesNotMatch', 'The signature of a chunk does not match');
    this.#previous = right;
    this.#hash = createHash('sha256');
  }

  #takeTrailer(line: string): void {
    if (line === '') return this.#awaitsSignature() ? undefined : this.#endTrailer();
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon === -1 || this.#trailer.has(name)) throw malformed('a header after the content is not valid');
    const used = [...this.#trailer].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (used + line.length > mostTrailer) throw malformed('the headers after the content are too long');
    this.#trailer.set(name, line.slice(colon + 1).trim());
  }

  /** The documentation of S3 shows an empty line between the headers and their signature, and some clients send it. */
  #awaitsSignature(): boolean {
    const { signed, trailers } = this.#options;
    return signed !== undefined && trailers.length > 0 && !this.#trailer.has(trailerSignature);
  }

  #endTrailer(): void {
    const { signed, trailers } = this.#options;
    const claimed = this.#trailer.get(trailerSignature);
    this.#trailer.delete(trailerSignature);
    const given = [...this.#trailer.keys()];
    if (given.length !== trailers.length || !trailers.every((name) => this.#trailer.has(name)))
      throw malformed('the headers after the content are not those of x-amz-trailer');
    if (signed && trailers.length > 0) {
      const text = [...this.#trailer].map(([name, value]) => `${name}:${value}\n`).join('');
      const right = signature(signed.key, textOfTrailer(signed, this.#previous, sha256Hex(text)));
      if (claimed === undefined || !isSame(right, claimed))
        throw s3Error('SignatureDoesNotMatch', 'The signature of the trailer does not match');
    }
    this.#state = 'done';
  }
}

const trailerSignature = 'x-amz-trailer-signature';

/** Clients end lines with CR and LF; the line before a signature of the trailer may end with LF only. */
const lineOf = (line: Buffer): string => line.toString('latin1').replace(/\r?\n$/, '');

const malformed = (problem: string) =>
  s3Error('InvalidRequest', `The body is not valid aws-chunked: ${problem}`);

interface Chain {
  readonly time: string;
  readonly scope: Scope;
}

const textOfChunk = ({ time, scope }: Chain, previous: string, hash: string): string =>
  ['AWS4-HMAC-SHA256-PAYLOAD', time, scopeText(scope), previous, emptyHash, hash].join('\n');

const textOfTrailer = ({ time, scope }: Chain, previous: string, hash: string): string =>
  ['AWS4-HMAC-SHA256-TRAILER', time, scopeText(scope), previous, hash].join('\n');
