/** Runs the first replica of docs/services/sync.md as it is printed. */
import { expect, inject, it } from 'vitest';
import { readPage } from '../testing/pages.ts';
import { environmentOf, expectShown, runExample } from '../testing/reader.ts';

const page = await readPage('docs/services/sync.md');

it('the page shows a first replica, which agrees with another one', async () => {
  await expectShown(page, 'ts first-replica', 'first-replica.ts');
  const printed = await runExample('first-replica.ts', environmentOf(inject('pageServer')));
  expect(printed).toBe(page.textOf('text first-replica'));
});
