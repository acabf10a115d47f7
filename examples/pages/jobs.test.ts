/** Runs the first job of docs/services/jobs.md as it is printed. */
import { expect, inject, it } from 'vitest';
import { jsonForm } from '../testing/forms.ts';
import { readPage } from '../testing/pages.ts';
import { expectShown, readerOf, startExample } from '../testing/reader.ts';

const page = await readPage('docs/services/jobs.md');

it('the page shows a first job, which a worker in a second terminal completes', async () => {
  await expectShown(page, 'ts worker', 'worker.ts');
  const reader = readerOf(page, inject('pageServer'));
  expect(JSON.parse(await reader.run('sh job'))).toMatchObject({ state: 'pending', queue: 'emails' });
  const worker = startExample('worker.ts', reader.env);
  await worker.prints('welcome to ada@example.com, attempt 1');
  await worker.stop('SIGTERM');
  expect(jsonForm(await reader.run('sh job-done'))).toEqual(jsonForm(page.textAfter('sh job-done')));
  const shown = page.textAfter('ts worker').replaceAll(/http\S+|job_\w+/g, '…');
  expect(worker.printed().replaceAll(/http\S+|job_\w+/g, '…')).toBe(`${shown}stopping\nstopped\n`);
});
