import { metadataCheck } from '../../lib/metadata.ts';

/** Checks the depth and size of the metadata of a key; the contract limits its members. */
export const checkMetadata = metadataCheck({ levels: 5, bytes: 8 * 1024 });
