/**
 * A stranger's first two minutes: `npm start` as the README says, on a free port and a new data directory, then the README's calls,
 * which have to print what it shows.
 */
import { execFileSync } from 'node:child_process';
import { deepStrictEqual } from 'node:assert';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../src/testing/free-port.ts';
import { running } from './running.ts';

const data = await mkdtemp(join(tmpdir(), 'plinth-two-minutes-'));
const port = await freePort();
const began = performance.now();
const env = { ...process.env, PORT: String(port), PLINTH_DATA_DIR: data, DATABASE_URL: '' };
const server = await running(['npm', 'start'], port, { env });
try {
  const readme = await readFile('README.md', 'utf8');
  const [, script = '', printed = ''] = /^```sh\n(.*?)^```\n\n^```json\n(.*?)^```/ms.exec(readme) ?? [];
  const here = script
    .replaceAll('http://127.0.0.1:4000', server.url)
    .replaceAll('.plinth/root-token', join(data, 'root-token'));
  const answer = execFileSync('bash', ['-euo', 'pipefail', '-c', here], { encoding: 'utf8' });
  deepStrictEqual(withoutIds(answer), withoutIds(printed), 'the README shows another answer');
} finally {
  await server.stop();
  await rm(data, { recursive: true });
}
console.log(`from npm start to the first answer: ${((performance.now() - began) / 1000).toFixed(1)} s`);

/** An answer in which ids and revisions do not count. */
function withoutIds(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown) => {
    if (typeof value === 'number') return 0;
    return typeof value === 'string' ? value.replace(/_[0-9a-z]{26}$/, '_…') : value;
  });
}
