import { randomBytes } from 'node:crypto';
import type { Config } from './config.ts';
import { storedSecret } from './stored-secret.ts';
import { createSealer, type Sealer } from './lib/seal.ts';

/** Creates a sealer with the master key of the environment, or of the data directory, where the key is created if it does not exist. */
export async function loadSealer({
  masterKey,
  previousMasterKey,
  dataDir,
}: Pick<Config, 'masterKey' | 'previousMasterKey' | 'dataDir'>): Promise<Sealer> {
  const key = masterKey ?? (await keptKey(dataDir));
  return createSealer(bytes(key), previousMasterKey === undefined ? undefined : bytes(previousMasterKey));
}

async function keptKey(dataDir: string): Promise<string> {
  const { value } = await storedSecret(dataDir, 'master-key', {
    make: () => randomBytes(32).toString('base64'),
    form: masterKeyForm,
    rule: '32 bytes in base64; without the key that was there, what it encrypted cannot be read any more',
  });
  return value;
}

/** The form of a master key: 32 bytes in base64. */
export const masterKeyForm = /^[A-Za-z0-9+/]{43}=$/;

const bytes = (key: string) => Buffer.from(key, 'base64');
