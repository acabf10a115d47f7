import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from '../../../db/index.ts';
import { makeFolder } from '../../../lib/folders.ts';
import { newId } from '../../../lib/ids.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { SettingError } from '../../../lib/settings.ts';
import { makeShards } from './fs-driver.ts';
import { metaStore } from './meta.store.ts';

export interface StoreDeps {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly dir: string;
}

const purpose = 'plinth/storage/links/v1';

export const sealedLinkSecret = (sealer: Sealer, secret: Uint8Array): Buffer =>
  sealer.seal(purpose, '', secret);
export const openedLinkSecret = (sealer: Sealer, sealed: Uint8Array): Buffer =>
  sealer.open(purpose, '', sealed);

/**
 * Makes sure that the directory and the database belong together, and returns the secret that signs links. On the first start both are
 * marked with one id. After that, a directory that is empty or another one, such as a disk that is not mounted, makes the start fail;
 * otherwise the sweep would delete everything in it.
 */
export async function openStore({ sql, sealer, dir }: StoreDeps): Promise<{ linkSecret: Buffer }> {
  const meta = metaStore(sql);
  const known = await meta.find();
  const file = join(dir, 'store.json');
  const id = known === undefined ? await marked(dir, file) : await idIn(file);
  const key = sealedLinkSecret(sealer, randomBytes(32));
  const { store_id, link_key } = known ?? (await meta.create(id!, key));
  if (id !== store_id) throw new SettingError(strange(dir, id));
  return { linkSecret: openedLinkSecret(sealer, link_key) };
}

const strange = (dir: string, id: string | undefined): string =>
  id === undefined
    ? `PLINTH_STORAGE_DIR must name the directory that belongs to this database; ${dir} holds no store`
    : `PLINTH_STORAGE_DIR must name the directory that belongs to this database; ${dir} belongs to another one`;

/** Of several processes that start at once on a new directory, one marks it. */
async function marked(dir: string, file: string): Promise<string | undefined> {
  await makeFolder(dir);
  const found = await idIn(file);
  if (found !== undefined) return found;
  await makeShards(dir);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${JSON.stringify({ store_id: newId('store') })}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    await link(draft, file).catch(unlessCode('EEXIST'));
  } finally {
    await rm(draft, { force: true });
  }
  return await idIn(file);
}

async function idIn(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(unlessCode('ENOENT'));
  if (text === undefined) return undefined;
  try {
    return (JSON.parse(text) as { store_id?: string }).store_id;
  } catch {
    return undefined;
  }
}

const unlessCode = (code: string) => (error: unknown) => {
  if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
  return undefined;
};
