import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { masked, recognise } from './index.ts';
import { originalSpan, plainText } from './plain-text.ts';
import { allDetectors } from './testing.ts';

/** Text as it may come: any units, among them lone surrogates, and the characters that forms consist of. */
const unit = fc.oneof(
  fc.constantFrom(
    '\ud800',
    '\udc00',
    '\u0000',
    '\u200b',
    '\u00ad',
    '\u0301',
    '\u{E0041}',
    '👩‍👩‍👧',
    '٣',
    '４',
    'ﷺ',
    'é',
    '中',
  ),
  fc.constantFrom(...'@:.-+/_=( \n019afzAZ'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const noise = fc.array(unit, { maxLength: 40 }).map((parts) => parts.join(''));
const values = [
  'john@example.com',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  '+1 212-456-7890',
  '536-90-4399',
  'AKIAIOSFODNN7QWERTYU',
  'postgres://u:s3cr3tpw@db:5432/x',
];

describe('offsets', () => {
  it('are those of the value in any text around it', async () => {
    await fc.assert(
      fc.asyncProperty(noise, fc.constantFrom(...values), noise, async (before, value, after) => {
        const text = `${before} ${value} ${after}`;
        const findings = await recognise({ text, detectors: allDetectors });
        const start = before.length + 1;
        expect(findings.some((each) => each.start <= start && each.end >= start + value.length)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('lie inside the text, in order and apart', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(noise, fc.constantFrom(...values)), { maxLength: 8 }),
        async (parts) => {
          const text = parts.join('');
          let last = 0;
          for (const { start, end, score, type } of await recognise({
            text,
            detectors: allDetectors,
            region: 'US',
          })) {
            expect(start).toBeGreaterThanOrEqual(last);
            expect(end).toBeGreaterThan(start);
            expect(end).toBeLessThanOrEqual(text.length);
            expect(score).toBeGreaterThan(0);
            expect(score).toBeLessThanOrEqual(0.99);
            const preview = masked(type, text.slice(start, end));
            expect(preview.length).toBeLessThanOrEqual(64);
            expect(preview).not.toContain(text.slice(start, end));
            last = end;
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('survive invisible characters inside the value', async () => {
    await fc.assert(
      fc.asyncProperty(
        noise,
        fc.array(fc.constantFrom('', '\u200b', '\u00ad', '\ufeff\u2060'), { minLength: 16, maxLength: 16 }),
        async (before, invisible) => {
          const value = [...'4111111111111111']
            .map((digit, at) => digit + (at < 15 ? invisible[at] : ''))
            .join('');
          const findings = await recognise({
            text: `${before} ${value}!`,
            detectors: new Set(['pii.credit_card']),
          });
          expect(findings.at(-1)).toMatchObject({
            start: before.length + 1,
            end: before.length + 1 + value.length,
          });
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('plain text', () => {
  it('is the text itself when nothing changes', () => {
    for (const text of ['', 'plain', 'déjà vu … “ok” 中文 👍', '\ud800\u0000']) {
      const plain = plainText(text);
      expect(plain).toEqual({ text, offsets: undefined });
      expect(originalSpan(plain, 1, 2)).toEqual([1, 2]);
    }
  });

  it('keeps every character that is neither changed nor invisible', () => {
    fc.assert(
      fc.property(noise, (text) => {
        const plain = plainText(text);
        for (let at = 0; at < plain.text.length; at++) {
          const [start, end] = originalSpan(plain, at, at + 1);
          expect(end).toBe(start + 1);
          if (text.charCodeAt(start) < 128) expect(plain.text[at]).toBe(text[start]);
        }
      }),
    );
  });
});

describe('previews', () => {
  it.each([
    ['pii.email', 'john@example.com', 'j***@e***.com'],
    ['pii.email', `a@${'b'.repeat(60)}.${'c'.repeat(60)}`, '***'],
    ['pii.credit_card', '4111 1111 1111 1111', '***1111'],
    ['pii.credit_card', '４１１１１１１１１１１１１１１１', '***1111'],
    ['pii.us_ssn', '536-90-4399', '***99'],
    ['pii.date_of_birth', '1/2/1985', '***'],
    ['pii.person_name', 'Élodie Martin', 'É***'],
    ['pii.url_credentials', 'user:longpassword', '***'],
    ['secret.generic_assignment', 'x7Kq92mVb4Tz81Lp', '***'],
    ['secret.github_token', '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', 'ghp_***'],
    ['secret.private_key', '-----BEGIN PRIVATE KEY-----\nMIIE', '-----BEGIN ***'],
    ['secret.connection_string', 'postgres://u:p@h/d', '***'],
  ])('of %s %s is %s', (type, raw, preview) => {
    expect(masked(type, raw)).toBe(preview);
  });
});
