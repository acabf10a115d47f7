import { describe, expect, it } from 'vitest';
import { Random } from '../corpus/random.ts';
import { recognise } from './index.ts';
import { allDetectors, found, scoreOf, valuesOf } from './testing.ts';

describe('context', () => {
  it.each([
    ['111222333', 0.25],
    ['BSN 111222333', 0.6],
    ['BSN one two three four 111222333', 0.6],
    ['BSN one two three four five 111222333', 0.25],
    ['BSN, 1 2 3 4 5 6 7: 111222333', 0.6],
    ['111222333 is her bsn', 0.6],
    ['111222333 is not her bsn', 0.25],
    ['bsnx 111222333', 0.25],
    ['{"BSN":"111222333"}', 0.6],
    ['customer_bsn=111222333', 0.6],
    ['BSN of the order 111222333', 0.3],
    ['order 111222333', undefined],
  ])('%s has %s', async (text, score) => {
    expect(await scoreOf('pii.nl_bsn', text)).toBe(score);
  });

  it.each([
    ['pii.email', 'invoice a@example.org', 0.65],
    ['pii.email', 'my email is a@example.org', 0.99],
    ['pii.iban', 'Invoice: DE89370400440532013000', 0.65],
    ['pii.us_ssn', 'social security 536904399', 0.5],
    ['pii.us_ssn', 'security 536904399', 0.15],
    ['pii.us_ssn', 'INV-123-45-6789', 0.3],
    ['pii.us_ssn', 'due by A12X-123-45-6789', 0.3],
    ['pii.us_ssn', 'SSN-123-45-6789', 0.95],
    ['pii.us_ssn', '536904399 social security', 0.5],
    ['pii.cn_resident_id', '我的身份证号码是11010519491231002X。', 0.95],
    ['pii.kr_rrn', '제 주민등록번호는 971013-9019902 입니다', 0.95],
    ['secret.generic_assignment', 'an example: password=x7Kq92mVb4Tz81Lp', 0.3],
    ['secret.aws_access_key', 'test key AKIAIOSFODNN7EXAMPLE', 0.6],
  ])('%s in %s has %s', async (type, text, score) => {
    expect(await scoreOf(type, text)).toBe(score);
  });

  it('looks no further than 128 characters, however long the words', async () => {
    expect(await scoreOf('pii.nl_bsn', `bsn ${'a'.repeat(100)} 111222333`)).toBe(0.6);
    expect(await scoreOf('pii.nl_bsn', `bsn ${'a'.repeat(200)} 111222333`)).toBe(0.25);
  });
});

describe('overlaps', () => {
  it('keeps the highest score', async () => {
    expect(await found('https://u:s3cr3t@example.com')).toEqual([['pii.url_credentials', 'u:s3cr3t', 0.9]]);
    expect(await found('BSN 111222333', {})).toEqual([['pii.nl_bsn', '111222333', 0.6]]);
  });

  it('keeps what the neighbours name when scores are equal', async () => {
    expect(await found('NIF: 130 808 296')).toEqual([['pii.pt_nif', '130 808 296', 0.6]]);
    expect(await found('TFN: 130 808 296')).toEqual([['pii.au_tfn', '130 808 296', 0.95]]);
  });

  it('depends on what is asked for', async () => {
    const detectors = new Set(['pii.us_ssn']);
    expect(await found('BSN 111222333', { detectors })).toEqual([['pii.us_ssn', '111222333', 0.15]]);
    expect(await found('a@example.org', { detectors })).toEqual([]);
  });
});

describe('boundaries', () => {
  const value = '4111111111111111';
  it.each(['', ' ', '(', '"', '=', ':', ',', '\n', '#', '电', '：', '«', '\u{1F600}', '\u00a0'])(
    'finds it behind "%s"',
    async (before) => {
      expect(await valuesOf('pii.credit_card', before + value)).toEqual([value]);
    },
  );

  it.each(['a', 'Z', '_', '9', 'é', 'я', '9-', '9.', '9/'])(
    'does not find it behind "%s"',
    async (before) => {
      expect(await valuesOf('pii.credit_card', before + value, 0)).toEqual([]);
    },
  );

  it.each(['', ' ', ')', '.', ', ', '. Next', '-', '的', '!', '\u0000', '\ud800'])(
    'finds it before "%s"',
    async (after) => {
      expect(await valuesOf('pii.credit_card', value + after)).toEqual([value]);
    },
  );

  it.each(['a', '_', '9', 'ü', '-9', '.9', '/9'])('does not find it before "%s"', async (after) => {
    expect(await valuesOf('pii.credit_card', value + after, 0)).toEqual([]);
  });
});

describe('disguises', () => {
  it.each([
    ['full width', '４１１１１１１１１１１１１１１１'],
    ['Arabic digits', '٤١١١١١١١١١١١١١١١'],
    ['Devanagari digits', '४१११११११११११११११'],
    ['soft hyphens', '4111\u00ad1111\u00ad1111\u00ad1111'],
    ['zero-width spaces', [...'4111111111111111'].join('\u200b')],
    ['non-breaking spaces', '4111\u00a01111\u00a01111\u00a01111'],
    ['Hangul fillers', '4111\u31641111\uffa01111\u115f1111'],
    ['blank braille patterns', '4111\u28001111\u28001111\u28001111'],
    ['typographic hyphens', '4111‑1111‑1111‑1111'],
  ])('sees through %s', async (_, value) => {
    expect(await found(`Card ${value}.`)).toEqual([['pii.credit_card', value, 0.99]]);
  });

  it('normalises what was disguised', async () => {
    const findings = await recognise({
      text: 'ＪＯＨＮ＠example.com 4111‑1111‑1111‑1111',
      detectors: allDetectors,
    });
    expect(findings.map(({ normalised }) => normalised)).toEqual(['john@example.com', '4111111111111111']);
  });
});

it('finds personal data in fewer than 0.1 % of random order numbers', async () => {
  const random = new Random(3);
  let count = 0;
  for (let at = 0; at < 5_000; at++) {
    const number = random.digits(10);
    for (const text of [number, `Your order ${number} has shipped.`, `ref ${number}, thanks`])
      if ((await found(text)).some(([, , score]) => score >= 0.5)) count++;
  }
  expect(count).toBeLessThan(15);
});
