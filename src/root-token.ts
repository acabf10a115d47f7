import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { SettingError } from './lib/settings.ts';

export interface RootToken {
  readonly token: string;
  /** The file that holds it; undefined when the environment says it. */
  readonly file: string | undefined;
  /** True when it was made just now: the one time that it is shown. */
  readonly isNew: boolean;
}

/** The root token of the environment, or the one in the data directory, which is made there when it is not yet. */
export async function loadRootToken({
  rootToken,
  dataDir,
}: Pick<Config, 'rootToken' | 'dataDir'>): Promise<RootToken> {
  if (rootToken !== undefined) return { token: rootToken, file: undefined, isNew: false };
  const file = join(dataDir, 'root-token');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString('base64url');
  try {
    // Exclusive: of several processes that start at once on a new directory, one makes the token.
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return { token, file, isNew: true };
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
  const kept = (await readFile(file, 'utf8')).trim();
  if (!/^[!-~]{32,512}$/.test(kept))
    throw new SettingError(
      `${file} must hold at least 32 visible ASCII characters; remove it to have a new one made`,
    );
  return { token: kept, file, isNew: false };
}

const isExisting = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST';
