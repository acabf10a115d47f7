import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingError } from './lib/settings.ts';

/** A secret that the data directory keeps where the environment does not say it. */
export interface KeptSecret {
  readonly value: string;
  readonly file: string;
  /** True when it was made just now. */
  readonly isNew: boolean;
}

/**
 * The secret in this file of the data directory, made there by `make` when it is not yet. Throws a `SettingError` where the file
 * holds something else than `form`; `rule` says in words what it must hold.
 */
export async function keptSecret(
  dataDir: string,
  name: string,
  { make, form, rule }: { make: () => string; form: RegExp; rule: string },
): Promise<KeptSecret> {
  const file = join(dataDir, name);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const value = make();
  try {
    // Exclusive: of several processes that start at once on a new directory, one makes it.
    await writeFile(file, `${value}\n`, { mode: 0o600, flag: 'wx' });
    return { value, file, isNew: true };
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
  const kept = (await readFile(file, 'utf8')).trim();
  if (!form.test(kept)) throw new SettingError(`${file} must hold ${rule}`);
  return { value: kept, file, isNew: false };
}

const isExisting = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST';
