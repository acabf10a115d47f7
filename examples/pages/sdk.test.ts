/** Runs the program of docs/sdk.md as it is printed. */
import { expect, inject, it } from 'vitest';
import { readPage } from '../testing/pages.ts';
import { environmentOf, expectShown, runExample } from '../testing/reader.ts';

const page = await readPage('docs/sdk.md');

it('the page shows first calls, which can be repeated', async () => {
  await expectShown(page, 'ts first-calls', 'first-calls.ts');
  for (const time of ['first', 'second']) {
    const printed = await runExample('first-calls.ts', environmentOf(inject('pageServer')));
    expect(printed, `the ${time} run`).toBe(page.textOf('text first-calls'));
  }
});
