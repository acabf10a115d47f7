import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The codings in which a file may exist, the smallest first, with the ending of the coded file. */
export const codings = { br: '.br', gzip: '.gz' } as const;

export type Coding = keyof typeof codings;

export interface SiteFile {
  /** The same for the same content. */
  readonly tag: string;
  readonly codings: readonly Coding[];
}

/** What a build of the documentation writes down about itself. Only the files that it names are served. */
export interface Manifest {
  /** Stands for all that the pages were made of. */
  readonly fingerprint: string;
  readonly files: Readonly<Record<string, SiteFile>>;
}

export const manifestName = 'manifest.json';

export type Files = ReadonlyMap<string, SiteFile>;

const none: Files = new Map();

/** Returns a function that names the files of a built site. A new build takes effect without a restart. */
export function createFiles(folder: string): () => Files {
  const path = join(folder, manifestName);
  let read: { readonly files: Files; readonly mark: string } | undefined;
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return none;
    const mark = `${found.ino} ${found.mtimeMs}`;
    if (read?.mark !== mark) {
      const { files } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
      read = { files: new Map(Object.entries(files)), mark };
    }
    return read.files;
  };
}
