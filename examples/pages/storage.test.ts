/** Runs docs/services/storage.md as it is printed: with curl, with the SDK, and with rclone where it is installed. */
import { execFileSync } from 'node:child_process';
import { expect, inject, it } from 'vitest';
import { readPage } from '../testing/pages.ts';
import { environmentOf, expectShown, readerOf, runExample } from '../testing/reader.ts';

const page = await readPage('docs/services/storage.md');
const server = inject('pageServer');

const hasRclone = () => {
  try {
    execFileSync('rclone', ['version']);
    return true;
  } catch {
    console.warn('examples/pages/storage.test.ts skips rclone, which is not installed');
    return false;
  }
};

it('the page shows a first object, over HTTP and over S3', async () => {
  const reader = readerOf(page, server);
  expect(JSON.parse(await reader.run('sh bucket'))).toMatchObject({ name: 'photos' });
  const [stored = '', firstLine] = (await reader.run('sh object')).split(/(?<=\})(?=#)/);
  expect(JSON.parse(stored)).toMatchObject({ key: 'docs/README.md', content_type: 'text/markdown' });
  expect(firstLine).toBe('# Plinth');
  if (!hasRclone()) return;
  // A bundle of certificates for the AWS tools keeps rclone from starting, and no certificate is needed here.
  const listed = await reader.run('sh s3-key', `unset AWS_CA_BUNDLE\n${page.textOf('sh rclone')}`);
  expect(listed).toMatch(/^ *\d+ README\.md\n$/);
});

it('the page shows a first object with the SDK', async () => {
  await expectShown(page, 'ts first-object', 'first-object.ts');
  const printed = await runExample('first-object.ts', environmentOf(server));
  expect(printed).toBe(page.textOf('text first-object'));
});
