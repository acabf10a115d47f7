/** Runs the first invoice of docs/services/billing.md as it is printed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { readPage } from '../testing/pages.ts';
import { environmentOf, expectShown, runExample } from '../testing/reader.ts';

const page = await readPage('docs/services/billing.md');

/** What differs from run to run. */
const withoutTimes = (text: string) => text.replaceAll(/acme-\d+/g, 'acme-…');

it('the page shows a first invoice: from the plan to the payment, and as a file', async () => {
  await expectShown(page, 'ts first-invoice', 'first-invoice.ts');
  const folder = await mkdtemp(join(tmpdir(), 'plinth-invoice-'));
  try {
    const printed = await runExample('first-invoice.ts', environmentOf(inject('pageServer')), folder);
    expect(withoutTimes(printed)).toBe(withoutTimes(page.textOf('text first-invoice')));
    const file = await readFile(join(folder, 'invoice.pdf'));
    expect(file.subarray(0, 5).toString()).toBe('%PDF-');
    expect(file.subarray(-6).toString()).toBe('%%EOF\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});
