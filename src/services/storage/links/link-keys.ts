/** The keys that sign links, by their names. The first one signs, and all of them are accepted. */
export type LinkKeys = ReadonlyMap<string, Uint8Array>;
