import { Invalid } from './errors.ts';
import { isDeeper } from './json-levels.ts';

export interface MetadataLimits {
  /** The most members at the top. It is left out where the contract limits them already. */
  readonly members?: number;
  /** The most levels of objects and arrays, the metadata itself being the first. */
  readonly levels: number;
  /** The most bytes of the metadata as JSON. */
  readonly bytes: number;
}

/** Builds a check of the metadata that clients attach to a record. The check throws `Invalid` when a limit is exceeded. */
export const metadataCheck =
  ({ members = Infinity, levels, bytes }: MetadataLimits) =>
  (metadata: Readonly<Record<string, unknown>>): void => {
    if (Object.keys(metadata).length > members) throw Invalid(`metadata: at most ${members} members`);
    if (isDeeper(metadata, levels)) throw Invalid(`metadata: at most ${levels} levels`);
    if (Buffer.byteLength(JSON.stringify(metadata)) > bytes)
      throw Invalid(`metadata: at most ${bytes} bytes`);
  };
