import type { DeletionResult } from '../../../../generated/storage/types.ts';
import type { Author } from '../../../db/write.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { BucketRow } from '../buckets/buckets.store.ts';
import { checkKey } from '../content/object-key.ts';
import type { Shelf } from './shelf.ts';

/** Deletes objects at once. A key that cannot be one is reported, and the others are deleted. */
export async function deleteKeys(
  shelf: Shelf,
  bucket: BucketRow,
  keys: readonly string[],
  author: Author,
): Promise<DeletionResult> {
  const asked = [...new Set(keys)].map((key) => ({ key, error: problemOf(key) }));
  const good = asked.flatMap(({ key, error }) => (error === undefined ? [key] : []));
  if (good.length > 0) await shelf.delete(author, bucket, good);
  return {
    deleted: good,
    errors: asked.flatMap(({ key, error }) => (error === undefined ? [] : [{ key, error, code: 400 }])),
  };
}

function problemOf(key: string): string | undefined {
  try {
    checkKey(key);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}
