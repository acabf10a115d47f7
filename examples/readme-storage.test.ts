/** Runs the README's first object as it is printed: with curl, with the SDK, and with rclone where it is installed. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root, textOf } from './testing/readme.ts';
import { run, sessionOf, start, stop } from './testing/running.ts';

let data: string;
let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
  server = await start(['serve', 'storage', 'authz'], data);
});
afterAll(async () => {
  await stop(server.child);
  await rm(data, { recursive: true });
});

const hasRclone = () => {
  try {
    execFileSync('rclone', ['version']);
    return true;
  } catch {
    console.warn('examples/readme-storage.test.ts skips rclone, which is not installed');
    return false;
  }
};

it('the README shows a first object, over HTTP and over S3', async () => {
  const session = await sessionOf(server.url, data);
  expect(JSON.parse(await session.run('sh bucket'))).toMatchObject({ name: 'photos' });
  const [stored = '', firstLine] = (await session.run('sh object')).split(/(?<=\})(?=#)/);
  expect(JSON.parse(stored)).toMatchObject({ key: 'docs/README.md', content_type: 'text/markdown' });
  expect(firstLine).toBe('# Plinth');
  if (!hasRclone()) return;
  // A bundle of certificates for the AWS tools keeps rclone from starting, and no certificate is needed here.
  const listed = await session.run('sh s3-key', `unset AWS_CA_BUNDLE\n${textOf('sh rclone')}`);
  expect(listed).toMatch(/^ *\d+ README\.md\n$/);
});

it('the README shows a first object with the SDK', async () => {
  const program = join(root, 'examples/first-object.ts');
  expect(textOf('ts first-object')).toBe(await readFile(program, 'utf8'));
  const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
  const env = { ...process.env, PLINTH_URL: server.url, PLINTH_ROOT_TOKEN: token };
  const { stdout } = await run(process.execPath, [program], { cwd: root, env });
  expect(stdout).toBe(textOf('text first-object'));
});
