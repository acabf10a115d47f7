/** The contract at a git revision, and in the work tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'tsp-output/openapi';

/** Reads files of the contract by path. Returns undefined for a missing file. */
export interface Revision {
  /** The names of the documents, such as `Authz.json`. */
  readonly documents: readonly string[];
  read(path: string): string | undefined;
}

export const documentPath = (name: string): string => `${folder}/${name}`;

function git(root: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

/** Returns the commit that a revision names, or undefined when it names none. */
export const commitOf = (root: string, revision: string): string | undefined =>
  git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)?.trim();

/** Returns the default revision to compare with: the last tag before this commit, else the previous commit. */
export function defaultRevision(root: string): string {
  return git(root, 'describe', '--tags', '--abbrev=0')?.trim() ?? 'HEAD~1';
}

export function revisionAt(root: string, commit: string): Revision {
  const listed = git(root, 'ls-tree', '-r', '--name-only', commit, folder) ?? '';
  return {
    documents: namesIn(listed.split('\n').map((path) => path.slice(folder.length + 1))),
    read: (path) => git(root, 'show', `${commit}:./${path}`),
  };
}

export function workTree(root: string): Revision {
  const inside = join(root, folder);
  return {
    documents: namesIn(existsSync(inside) ? readdirSync(inside) : []),
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined),
  };
}

const namesIn = (files: readonly string[]): string[] => files.filter((name) => name.endsWith('.json')).sort();
