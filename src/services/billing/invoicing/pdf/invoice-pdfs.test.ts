import { expect, test } from 'vitest';
import { createInvoicePdfs } from './invoice-pdfs.ts';
import { sampleInvoice, sampleSeller } from './testing/samples.ts';

const { signal } = new AbortController();

test('two files are made at once, some wait, and more are refused', async () => {
  const pdfs = createInvoicePdfs({ seller: sampleSeller, pdfFont: '' });
  const made = Array.from({ length: 34 }, () => pdfs.make(sampleInvoice(), null, signal));
  expect(pdfs.load()).toEqual({ running: 2, waiting: 32, refused: 0 });
  await expect(pdfs.make(sampleInvoice(), null, signal)).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfter: 1,
  });
  const files = await Promise.all(made);
  for (const file of files) expect(Buffer.from(file).equals(files[0]!)).toBe(true);
  expect(pdfs.load()).toEqual({ running: 0, waiting: 0, refused: 1 });
});

test('the file is as old as the final invoice, or as the last change of a draft', async () => {
  const pdfs = createInvoicePdfs({ seller: sampleSeller, pdfFont: '' });
  const createdAt = async (change: Parameters<typeof sampleInvoice>[0]) =>
    /\(D:(\d+Z)\)/.exec(
      Buffer.from(await pdfs.make(sampleInvoice(change), null, signal)).toString('latin1'),
    )?.[1];
  expect(await createdAt({ finalized_at: '2026-02-15T11:00:00.000Z' })).toBe('20260215110000Z');
  expect(await createdAt({ finalized_at: null, updated_at: '2026-02-16T12:00:00.000Z' })).toBe(
    '20260216120000Z',
  );
});

test('a font that cannot be read fails its files, and the next one tries again', async () => {
  const pdfs = createInvoicePdfs({ seller: sampleSeller, pdfFont: '/nowhere/font.ttf' });
  for (const _ of [1, 2]) await expect(pdfs.make(sampleInvoice(), null, signal)).rejects.toThrow('ENOENT');
});
