import type { CopyRequest } from '../../../../generated/storage/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden, Invalid } from '../../../lib/errors.ts';
import type { BucketRow } from '../buckets/buckets.store.ts';
import { checkKey } from '../content/object-key.ts';
import { ObjectNotFound } from '../errors.ts';
import type { CopySource, Shelf } from './shelf.ts';

/** Whoever copies content learns its checksum, and with parts of single bytes all of it. */
export function checkMayRead(context: Pick<Context, 'holds'>): void {
  if (!context.holds('storage:read')) throw Forbidden('missing scope storage:read');
}

/** Finds what a request wants to copy, which the caller must be allowed to read. */
export async function copySource(
  shelf: Shelf,
  { source_bucket = null, source_key = null, source_hash = null, metadata_directive }: CopyRequest,
  target: BucketRow,
  context: Context,
): Promise<CopySource> {
  if ((source_key === null) === (source_hash === null))
    throw Invalid('source_key: exactly one of source_key and source_hash');
  checkMayRead(context);
  if (source_key !== null) {
    const found = await shelf.find(context.tenant, source_bucket ?? target.id, checkKey(source_key));
    if (found.object === undefined) throw ObjectNotFound();
    return found;
  }
  if (source_bucket !== null) throw Invalid('source_bucket: only with source_key');
  if (metadata_directive !== 'replace') throw Invalid('metadata_directive: must be replace with source_hash');
  return { sha256: source_hash!.slice('sha256:'.length) };
}
