import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { keptSecret } from './kept-secret.ts';

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
  const { value, file, isNew } = await keptSecret(dataDir, 'root-token', {
    make: () => randomBytes(32).toString('base64url'),
    form: /^[!-~]{32,512}$/,
    rule: 'at least 32 visible ASCII characters; remove it to have a new one made',
  });
  return { token: value, file, isNew };
}
