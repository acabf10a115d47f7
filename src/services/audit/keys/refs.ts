import type { MacKey } from '../record/mac-key.ts';

/** What a reference stands for: a person, as actor or subject, or a resource. */
export type RefKind = 'person' | 'resource';

/**
 * What stands for a person or a resource in the columns by which events are found: without the index key of the stream it tells nothing.
 * @returns 16 bytes, the same for the same name in the same stream
 */
export const refOf = (indexKey: MacKey, kind: RefKind, name: string): Buffer =>
  indexKey.of(`${kind}\0${name}`).subarray(0, 16);
