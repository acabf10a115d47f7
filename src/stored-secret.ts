import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './lib/folders.ts';
import { SettingError } from './lib/settings.ts';

/** A secret that the data directory keeps when the environment does not provide it. */
export interface StoredSecret {
  readonly value: string;
  readonly file: string;
  /** True when the secret was created just now. */
  readonly isNew: boolean;
}

/**
 * Returns the secret in this file of the data directory, and creates it with `make` if it does not exist. Throws a `SettingError` when
 * the content of the file does not match `form`; `rule` says in words what the file must hold.
 */
export async function storedSecret(
  dataDir: string,
  name: string,
  { make, form, rule }: { make: () => string; form: RegExp; rule: string },
): Promise<StoredSecret> {
  const file = join(dataDir, name);
  await makeFolder(dataDir);
  const before = await textOf(file);
  const value = make();
  if (before === undefined && (await keep(file, value))) return { value, file, isNew: true };
  const stored = before ?? (await readFile(file, 'utf8'));
  if (!form.test(stored.trim())) throw new SettingError(`${file} must hold ${rule}`);
  return { value: stored.trim(), file, isNew: false };
}

/**
 * Stores the secret. Returns false when another process has stored one: of several processes that start at once on a new directory,
 * one succeeds. The file exists complete or not at all, even when the disk is full or the process ends meanwhile.
 */
async function keep(file: string, value: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${value}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await link(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw Object.assign(error as Error, { path: file });
  } finally {
    await rm(draft, { force: true });
  }
}

const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code;
