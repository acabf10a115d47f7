import type { Metadata } from '../../../generated/billing/types.ts';
import { Invalid } from '../../lib/errors.ts';
import { metadataCheck } from '../../lib/metadata.ts';

const longestKey = 64;
const checkSize = metadataCheck({ levels: 5, bytes: 8 * 1024 });

/** Checks the metadata of a record; the contract limits the number of its keys. @throws Invalid */
export function checkMetadata(metadata: Metadata): void {
  checkSize(metadata);
  if (Object.keys(metadata).some((key) => key === '' || [...key].length > longestKey))
    throw Invalid(`metadata: keys must have 1 to ${longestKey} characters`);
}
