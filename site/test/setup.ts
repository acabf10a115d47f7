import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Builds the site once for all tests, unless it is built from what is there now. The generator gets a process of its own. */
export default async function setup(): Promise<void> {
  const build = fileURLToPath(new URL('../build.ts', import.meta.url));
  const { PATH, HOME } = process.env;
  await promisify(execFile)(process.execPath, [build], { env: { PATH, HOME } });
}
