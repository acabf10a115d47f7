import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { storedSecret } from './stored-secret.ts';

export interface RootToken {
  readonly token: string;
  /** The file that holds the token; undefined when the environment provides it. */
  readonly file: string | undefined;
  /** True when the token was created just now, which is the only time that it is shown. */
  readonly isNew: boolean;
}

/** Returns the root token of the environment, or of the data directory, where it is created if it does not exist. */
export async function loadRootToken({
  rootToken,
  dataDir,
}: Pick<Config, 'rootToken' | 'dataDir'>): Promise<RootToken> {
  if (rootToken !== undefined) return { token: rootToken, file: undefined, isNew: false };
  const { value, file, isNew } = await storedSecret(dataDir, 'root-token', {
    make: () => randomBytes(32).toString('base64url'),
    form: /^[!-~]{32,512}$/,
    rule: 'at least 32 visible ASCII characters; remove it to have a new one made',
  });
  return { token: value, file, isNew };
}
