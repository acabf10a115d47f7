import fc from 'fast-check';
import { expect, test } from 'vitest';
import { awareness, detector, rules, scanText } from './testing.ts';

/** Texts with all that makes offsets hard, around values that are found. */
const noise = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(' ', '👩‍👩‍👧', 'e\u0301', '\ud83d', '\udc00', '\u{e0041}\u{e0042}', '\u200b', 'ﬁ', '  \n'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const custom = (keyword: string, method: 'placeholder' | 'remove' | 'vault') =>
  rules({
    awareness: [
      {
        primitive: awareness({
          focus: 'custom',
          detectors: [detector({ name: 'custom.secret', keywords: [keyword], match: 'substring' })],
          redaction: { method, config: {} },
        }),
      },
    ],
  });
const placeholder = custom('zebra', 'placeholder');
const removing = custom('zebra', 'remove');
const vaulting = custom('zebra', 'vault');

test('a finding is the part of the text at its offsets', async () => {
  await fc.assert(
    fc.asyncProperty(noise, noise, async (before, after) => {
      const text = `${before}Zebra${after}`;
      const { findings } = await scanText(text, placeholder);
      const parts = findings.map(({ start, end }) => text.slice(start!, end!));
      expect(parts.some((part) => /zebra/i.test(part.normalize('NFKD')))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('redaction leaves all other characters as they were', async () => {
  await fc.assert(
    fc.asyncProperty(noise, noise, async (before, after) => {
      const text = `${before} zebra ${after}`;
      const { findings, redacted } = await scanText(text, removing);
      let expected = '';
      let at = 0;
      for (const { start, end } of findings) {
        expected += text.slice(at, start!);
        at = end!;
      }
      expect(redacted).toBe(expected + text.slice(at));
    }),
    { numRuns: 60 },
  );
});

test('restoring what the vault was given yields the text', async () => {
  await fc.assert(
    fc.asyncProperty(noise, noise, async (before, after) => {
      const text = `${before}Zebra ZEBRA${after}`;
      fc.pre(!text.includes('[SECRET_'));
      const { redacted, vaulted } = await scanText(text, vaulting);
      let restored = redacted;
      for (const { label, token, raw } of vaulted)
        restored = restored.replaceAll(`[${label}_${token}]`, () => raw);
      expect(restored).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test('an email between characters outside the basic plane is found and replaced', async () => {
  const text = '👩‍👩‍👧 write to\u00a0john.smith@example.com 👍🏽\ud83d';
  const { findings, redacted } = await scanText(text);
  expect(findings.map(({ start, end }) => text.slice(start!, end!))).toEqual(['john.smith@example.com']);
  expect(redacted).toBe(text.replace('john.smith@example.com', '[EMAIL_1]'));
});
