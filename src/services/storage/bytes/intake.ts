import { isContention } from '../../../db/errors.ts';
import { DomainError, type ErrorKind } from '../../../lib/errors.ts';
import {
  contentHasher,
  type Digests,
  type ExpectedChecksums,
  verifyChecksums,
} from '../content/checksums.ts';
import { ObjectTooLarge, StorageUnavailable } from '../errors.ts';
import type { NewBlob } from './blobs.store.ts';
import type { BytesDriver } from './driver.ts';
import type { Transfers } from './transfers.ts';

/** Content as a client sends it. */
export interface Incoming {
  readonly tenant: string;
  readonly source: AsyncIterable<Uint8Array>;
  readonly expected?: ExpectedChecksums;
  /** The MD5 of the content in hexadecimal digits, known once the source has ended; it is kept with the bytes. */
  readonly md5?: () => string;
  /** The most bytes that it may have. */
  readonly most: number;
}

/** Content that arrived whole and is stored durably, but to which nothing points yet. */
export interface Received extends Digests {
  /** Null for content without bytes. */
  readonly blob: NewBlob | null;
}

/** Takes the bytes of requests in. */
export interface Intake {
  /**
   * Receives content, checks it and stores it durably, then commits the pointer to it. The bytes are dropped when the content is not
   * what was expected, when the commit is refused, and when it points to other bytes, which are the same.
   */
  take<T extends { readonly blob_id: string | null }>(
    incoming: Incoming,
    commit: (received: Received) => Promise<T>,
  ): Promise<T>;
}

export interface IntakeDeps {
  readonly driver: BytesDriver;
  readonly transfers: Transfers;
  /** The most bytes of content that is kept in the database. */
  readonly inlineMax: number;
}

export function createIntake({ driver, transfers, inlineMax }: IntakeDeps): Intake {
  return {
    async take({ tenant, ...incoming }, commit) {
      const end = transfers.begin(tenant);
      try {
        return await pointed(await receive(incoming), commit);
      } finally {
        end();
      }
    },
  };

  async function receive(incoming: Omit<Incoming, 'tenant'>): Promise<Received> {
    const { source, expected = {}, most, md5 } = incoming;
    const hasher = contentHasher(expected);
    const digested: { value?: Digests } = {};
    const checked = hashed(source, most, (chunk) => {
      if (chunk === undefined) return verifyChecksums(expected, (digested.value = hasher.digest()));
      hasher.update(chunk);
    });
    const iterator = checked[Symbol.asyncIterator]();
    const { head, ended } = await begun(iterator, inlineMax);
    const id = driver.newId();
    if (!ended) await stored(id, joined(head, iterator));
    const digests = digested.value!;
    const { size, sha256, crc32c, blocks } = digests;
    const blob: NewBlob | null =
      size === 0
        ? null
        : {
            ...{ id, size, sha256: Buffer.from(sha256, 'hex'), crc32c: parseInt(crc32c, 16) },
            md5: md5?.() ?? null,
            blocks: ended ? Buffer.alloc(0) : blocks,
            content: ended ? Buffer.concat(head) : null,
          };
    return { ...digests, blob };
  }

  /** Errors of the content keep their meaning; what else goes wrong is the directory's. */
  async function stored(id: string, source: AsyncIterable<Uint8Array>): Promise<void> {
    let ofSource: unknown;
    try {
      await driver.put(
        id,
        noted(source, (error) => (ofSource = error)),
      );
    } catch (error) {
      throw error === ofSource ? error : StorageUnavailable(error);
    }
  }

  async function pointed<T extends { readonly blob_id: string | null }>(
    received: Received,
    commit: (received: Received) => Promise<T>,
  ): Promise<T> {
    const { blob } = received;
    // A file that cannot be deleted now is left to the sweep: the outcome of the commit stands.
    const drop = async () => {
      if (blob?.content === null) await driver.delete([blob.id]).catch(() => {});
    };
    try {
      const result = await commit(received);
      if (result.blob_id !== blob?.id) await drop();
      return result;
    } catch (error) {
      // After any other error the commit may have taken place, and the sweep decides.
      if (isRefusal(error)) await drop();
      throw error;
    }
  }
}

const unknowns: ReadonlySet<ErrorKind> = new Set([
  'internal',
  'unavailable',
  'storeUnavailable',
  'storeFull',
]);

const isRefusal = (error: unknown): boolean =>
  isContention(error) || (error instanceof DomainError && !unknowns.has(error.kind));

/** Passes content on while it fits; `see` gets each chunk, and nothing at the end. */
async function* hashed(
  source: AsyncIterable<Uint8Array>,
  most: number,
  see: (chunk: Uint8Array | undefined) => void,
): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > most) throw ObjectTooLarge(most);
    see(chunk);
    yield chunk;
  }
  see(undefined);
}

/** Reads the beginning: all of short content, or the first chunks of content that has more than `most` bytes. */
async function begun(iterator: AsyncIterator<Uint8Array>, most: number) {
  const head: Uint8Array[] = [];
  for (let size = 0; size <= most;) {
    const next = await iterator.next();
    if (next.done) return { head, ended: true };
    head.push(next.value);
    size += next.value.length;
  }
  return { head, ended: false };
}

async function* joined(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>) {
  try {
    yield* head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function* noted(source: AsyncIterable<Uint8Array>, note: (error: unknown) => void) {
  try {
    yield* source;
  } catch (error) {
    note(error);
    throw error;
  }
}
