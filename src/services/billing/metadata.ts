import { Invalid } from '../../lib/errors.ts';
import { metadataCheck } from '../../lib/metadata.ts';

const longestKey = 64;
const check = metadataCheck({ levels: 5, bytes: 8_192 });

/** Checks what the contract cannot say about metadata. @throws Invalid */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  check(metadata);
  for (const key of Object.keys(metadata))
    if (key.length < 1 || key.length > longestKey) throw Invalid(`metadata: keys have 1 to ${longestKey} characters`);
}
