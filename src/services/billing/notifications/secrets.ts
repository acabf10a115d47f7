import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/folders.ts';
import { SettingError } from '../../../lib/settings.ts';
import type { Settings } from '../settings.ts';

/** The secrets with which each provider signs, newest first. */
export interface Secrets {
  readonly card: readonly string[];
  readonly billing: readonly string[];
}

/** The file of the data directory that keeps the secret of a server that has none in its settings. */
export const secretFile = 'billing-notification-secret';

const form = /^whsec_[A-Za-z0-9_-]{43}$/;

/** The secrets of the settings. With the built-in provider, which nobody has set up, one is generated when the first server starts. */
export async function secretsOf(
  { provider, cardSecrets, billingSecrets }: Pick<Settings, 'provider' | 'cardSecrets' | 'billingSecrets'>,
  dataDir: string,
): Promise<Secrets> {
  const areMissing = cardSecrets.length === 0 || billingSecrets.length === 0;
  const generated = provider === 'test' && areMissing ? [await keptSecret(dataDir)] : [];
  return {
    card: cardSecrets.length > 0 ? cardSecrets : generated,
    billing: billingSecrets.length > 0 ? billingSecrets : generated,
  };
}

/** Of several processes that start at once, one stores its secret and all read it; the file exists complete or not at all. */
async function keptSecret(dataDir: string): Promise<string> {
  await makeFolder(dataDir);
  const file = join(dataDir, secretFile);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `whsec_${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    await link(draft, file).catch(unlessExists);
  } finally {
    await rm(draft, { force: true });
  }
  const secret = (await readFile(file, 'utf8')).trim();
  if (!form.test(secret)) throw new SettingError(`${file} must hold a secret of notifications`);
  return secret;
}

function unlessExists(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
