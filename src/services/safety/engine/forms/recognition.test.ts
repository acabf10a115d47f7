import { describe, expect, it } from 'vitest';
import { detectors, recognise } from './index.ts';
import { found, valuesOf } from './testing.ts';

/** By detector: values that are found whole, with the score they have without context, and values that are not found. */
const forms: Record<string, { right: (readonly [value: string, score: number])[]; wrong: string[] }> = {
  email: {
    right: [
      ['John.Smith@example.com', 0.95],
      ["o'neil+tag_1@mail.example.co.uk", 0.95],
      ['müller@bücher.example', 0.95],
      ['a@xn--bcher-kva.example', 0.95],
      [`${'a'.repeat(64)}@example.org`, 0.95],
      ['rene\u0301.é@e\u0301xample.org', 0.95],
      ['Nguyễn@example.org', 0.95],
      ['अजय@डाटा.भारत', 0.95],
      ['مثال@بريد.شبكة', 0.95],
      ['用户@例子.中国', 0.95],
      ['홍길동@예시.한국', 0.95],
      ['foo..bar.@docomo.ne.jp', 0.95],
    ],
    wrong: [
      'a@b',
      '@example.com',
      `${'a'.repeat(65)}@example.org`,
      'x@1.2.3.4',
      'git@github.com:a/b',
      'a.@b.org',
      'left-pad@1.2.3',
      'image@2x.png',
    ],
  },
  credit_card: {
    right: [
      ['4532015112830366', 0.85],
      ['4111 1111 1111 1111', 0.85],
      ['5555-5555-5555-4444', 0.85],
      ['3782 822463 10005', 0.85],
      ['30569309025904', 0.85],
      ['6011111111111117', 0.85],
      ['2223003122003222', 0.85],
      ['4222222222222', 0.4],
    ],
    wrong: [
      '4111111111111112',
      '4111  1111 1111 1111',
      '4111 1111-1111 1111',
      '9999999999999995',
      'x4111111111111111',
      '41111111111111110',
    ],
  },
  iban: {
    right: [
      ['DE89 3704 0044 0532 0130 00', 0.95],
      ['GB82 WEST 1234 5698 7654 32', 0.95],
      ['GB82WEST12345698765432', 0.95],
      ['de89370400440532013000', 0.95],
      ['NO93-8601-1117-947', 0.95],
      ['MT84MALT011000012345MTLCAST001S', 0.95],
    ],
    wrong: [
      'DE88 3704 0044 0532 0130 00',
      'DE89 3704 0044 0532 0130 0',
      'ZZ82WEST12345698765432',
      'DE89  3704 0044 0532 0130 00',
    ],
  },
  ip_address: {
    right: [
      ['8.8.8.8', 0.7],
      ['84.7.6.1', 0.7],
      ['7.6.1.1', 0.2],
      ['2001:4860:4860::8888', 0.7],
      ['10.0.0.1', 0.4],
      ['127.0.0.1', 0.4],
      ['fe80::1ff:fe23:4567:890a', 0.4],
    ],
    wrong: [
      '256.1.1.1',
      '1.2.3',
      '1.2.3.4.5',
      'v1.2.3.4',
      'a::b',
      '12:30:45',
      'std::vector',
      '12:34:56:78:90:ab:cd:ef',
    ],
  },
  mac_address: {
    right: [
      ['00:1A:2b:3c:4d:5e', 0.7],
      ['a4-83-e7-2b-00-91', 0.7],
    ],
    wrong: [
      '00:1A:2b:3c:4d',
      '00:1A:2b:3c:4d:5e:6f',
      '00:1A-2b:3c:4d:5e',
      'ff:ff:ff:ff:ff:ff',
      '00:00:00:00:00:00',
    ],
  },
  us_ssn: {
    right: [
      ['536-90-4399', 0.6],
      ['536 90 4399', 0.6],
      ['536904399', 0.15],
    ],
    wrong: [
      '000-12-3456',
      '666-12-3456',
      '900-12-3456',
      '536-00-4399',
      '536-90-0000',
      '078-05-1120',
      '1-536-90-4399',
      '536-90-43991',
    ],
  },
  us_itin: { right: [['912-70-1234', 0.6]], wrong: ['912-69-1234', '812-70-1234', '912-93-1234'] },
  us_routing: { right: [['021000021', 0.2]], wrong: ['021000022', '991000021'] },
  gb_nhs: {
    right: [
      ['9434765919', 0.25],
      ['943 476 5919', 0.25],
    ],
    wrong: ['9434765918', '943 4765919'],
  },
  gb_nino: {
    right: [
      ['AB123456C', 0.6],
      ['AB 12 34 56 C', 0.6],
      ['ab123456c', 0.25],
    ],
    wrong: ['BG123456A', 'DA123456A', 'AO123456A', 'AB123456E', 'AB12345C'],
  },
  de_tax_id: { right: [['86095742719', 0.25]], wrong: ['86095742718', '06095742719', '12345678901'] },
  es_nif: {
    right: [
      ['12345678Z', 0.6],
      ['X5253868R', 0.6],
      ['12345678-Z', 0.6],
      ['12.345.678-Z', 0.6],
    ],
    wrong: ['12345678A', 'X5253868A'],
  },
  fr_nir: {
    right: [
      ['255081416802538', 0.6],
      ['2 55 08 14 168 025 38', 0.6],
    ],
    wrong: ['255081416802539', '955081416802538'],
  },
  it_fiscal_code: { right: [['RCCMNL83S18D969H', 0.6]], wrong: ['RCCMNL83S18D969I', 'RCCMNL83Q18D969H'] },
  nl_bsn: { right: [['111222333', 0.25]], wrong: ['111222334'] },
  pl_pesel: { right: [['44051401359', 0.25]], wrong: ['44051401358', '44131401351'] },
  fi_hetu: {
    right: [
      ['131052-308T', 0.6],
      ['131052A308T', 0.6],
    ],
    wrong: ['131052-308U', '321052-308T'],
  },
  se_personnummer: {
    right: [
      ['880320-0016', 0.25],
      ['8803200016', 0.25],
      ['19880320-0016', 0.25],
    ],
    wrong: ['880320-0018', '881320-0015'],
  },
  pt_nif: { right: [['501964843', 0.25]], wrong: ['501964842'] },
  be_nrn: {
    right: [
      ['85.07.30-033.28', 0.6],
      ['85073003328', 0.6],
      ['17073003384', 0.6],
    ],
    wrong: ['85.07.30-033.29', '85133003328'],
  },
  br_cpf: {
    right: [
      ['390.533.447-05', 0.6],
      ['39053344705', 0.25],
    ],
    wrong: ['390.533.447-06', '111.111.111-11'],
  },
  br_cnpj: {
    right: [
      ['16.727.230/0001-97', 0.6],
      ['16727230000197', 0.25],
      ['12.ABC.345/01DE-35', 0.6],
      ['12ABC34501DE35', 0.6],
    ],
    wrong: ['16.727.230/0001-98', '12.ABC.345/01DE-36'],
  },
  in_aadhaar: {
    right: [
      ['2341 2341 2346', 0.6],
      ['234123412346', 0.25],
    ],
    wrong: ['234123412347', '134123412346'],
  },
  in_pan: { right: [['ACUPA7085R', 0.6]], wrong: ['ACUXA7085R', 'ACUPA70851'] },
  ca_sin: {
    right: [
      ['046 454 286', 0.6],
      ['046454286', 0.25],
    ],
    wrong: ['046 454 287', '10 046 454 286'],
  },
  au_tfn: { right: [['123 456 782', 0.6]], wrong: ['123 456 783'] },
  au_abn: {
    right: [
      ['83 914 571 673', 0.6],
      ['83914571673', 0.25],
    ],
    wrong: ['99 914 571 673'],
  },
  cn_resident_id: {
    right: [
      ['11010519491231002X', 0.6],
      ['440524188001010014', 0.6],
    ],
    wrong: ['110105194912310021', '11010519491331002X'],
  },
  sg_nric: { right: [['S1234567D', 0.6]], wrong: ['S1234567E', 'A1234567D'] },
  kr_rrn: { right: [['971013-9019902', 0.6]], wrong: ['971013-9019903', '971313-9019902'] },
  za_id: { right: [['7503305044089', 0.25]], wrong: ['7503305044088', '7513305044088'] },
  tr_tckn: { right: [['17291716060', 0.25]], wrong: ['17291716050', '07291716060'] },
  passport_mrz: {
    right: [
      ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10', 0.9],
      ['I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<', 0.9],
      ['I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<\nD231458907UTO7408122F1204159<<<<<<<6', 0.9],
    ],
    wrong: ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C37UTO7408122F1204159ZE184226B<<<<<10'],
  },
  vin: { right: [['1M8GDM9AXKP042788', 0.5]], wrong: ['1M8GDM9AXKP042789', '11111111111111111'] },
  imei: {
    right: [
      ['490154203237518', 0.25],
      ['49-015420-323751-8', 0.25],
    ],
    wrong: ['490154203237519'],
  },
  bitcoin_address: {
    right: [
      ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 0.9],
      ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 0.9],
      ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 0.9],
      ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 0.9],
      ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 0.9],
    ],
    wrong: ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp'],
  },
  ethereum_address: {
    right: [
      ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 0.9],
      ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 0.9],
    ],
    wrong: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae'],
  },
  date_of_birth: {
    right: [
      ['1985-03-12', 0.2],
      ['12.03.1985', 0.2],
      ['2/29/1984', 0.2],
      ['12 March 1985', 0.2],
      ['March 12, 1985', 0.2],
      ['3. Februar 1970', 0.2],
    ],
    wrong: ['1985-13-12', '30.02.1985', '2/29/1985', '31 April 1985', '12.03.85', '1885-03-12'],
  },
  geo_coordinates: {
    right: [
      ['48.8584, 2.2945', 0.3],
      ['-33.8568,151.2153', 0.3],
      ['48.8584° N, 2.2945° E', 0.3],
    ],
    wrong: ['98.8584, 2.2945', '48.8584, 182.2945', '48.85, 2.29'],
  },
};

describe.each(Object.entries(forms))('pii.%s', (name, { right, wrong }) => {
  const type = `pii.${name}`;

  it.each(right)('finds %s', async (value, score) => {
    for (const text of [value, `(${value})`, `a: ${value}, b`, `«${value}»\n`]) {
      const findings = await found(text, { detectors: new Set([type]) });
      expect(findings, text).toEqual([[type, value, score]]);
    }
  });

  it.each(wrong)('does not find %s', async (value) => {
    expect(await valuesOf(type, `a ${value} b`, 0)).toEqual([]);
  });
});

it('names every detector once, by its id', () => {
  const ids = detectors.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toHaveLength(71);
  for (const { description, context_words } of detectors) {
    expect(description).toMatch(/^[A-Z]/);
    expect(context_words.length).toBeLessThanOrEqual(64);
  }
});

it.each([
  ['メールはfoo..bar.@docomo.ne.jpまで。', 'foo..bar.@docomo.ne.jp'],
  ['連絡は用户@例子.中国までお願いします', '用户@例子.中国'],
  ['メールはjohn@example.comまで', 'john@example.com'],
  ['연락은 john@example.com으로', 'john@example.com'],
  ['サーバーtaro@例え.jpへ', 'taro@例え.jp'],
  ['लिखें अजय@डाटा.भारत।', 'अजय@डाटा.भारत'],
  ['foo..bar@example.com', 'bar@example.com'],
  [String.raw`{"body":"{\"to\":\"Hi,\njohn@example.com\"}"}`, 'john@example.com'],
  [String.raw`Log in as CORP\robert@example.com today`, 'robert@example.com'],
])('finds the address in %s, and nothing of the sentence', async (text, address) => {
  expect(await valuesOf('pii.email', text)).toEqual([address]);
});

it('takes an accent behind its letter for that of the letter', async () => {
  const one = (text: string) => recognise({ text, detectors: new Set(['pii.email']) });
  const [whole] = await one('rené@example.com');
  const [divided] = await one('RENE\u0301@example.com');
  expect(divided).toMatchObject({ normalised: whole!.normalised, start: 0, end: 17 });
});

it.each([
  ['sections [7.6.1.1](#a) and [11.6.2.2](#b)', undefined],
  ['see § 84.76.61.10', undefined],
  ['zlib 1.2.13.1', undefined],
  ['requires >=84.76.61.10', undefined],
  ['the IP 7.6.1.1', '7.6.1.1'],
  ['host: 7.6.1.1', '7.6.1.1'],
  ['net 7.6.1.1/24', '7.6.1.1'],
  ['http://7.6.1.1:8080/', '7.6.1.1'],
  ['from 84.76.61.10', '84.76.61.10'],
])('tells addresses from numbers of sections and versions in %s', async (text, address) => {
  expect(await valuesOf('pii.ip_address', text)).toEqual(address === undefined ? [] : [address]);
});

describe('phone numbers', () => {
  const phoneRegions = ['DE', 'US', 'GB'];

  it.each([
    ['Phone: 030 901820', '030 901820'],
    ['Tel. (030) 901820', '(030) 901820'],
    ['Call me at 212-456-7890', '212-456-7890'],
    ['電話 020 7946 0958', '020 7946 0958'],
    ['we sold 030 901820 pieces', undefined],
    ['the ratio is 212-456-7890', undefined],
  ])('of the regions that are listed are found in %s if a word says so', async (text, number) => {
    expect(await valuesOf('pii.phone', text, 0.5, { phoneRegions })).toEqual(number ? [number] : []);
    expect(await valuesOf('pii.phone', text, 0.5)).toEqual([]);
  });

  it.each([
    ['call (+49) 30 901820 now', '(+49) 30 901820'],
    ['call (office: (+49) 30 901820)', '(+49) 30 901820'],
    ['call (+1 (212) 456-7890)', '+1 (212) 456-7890'],
    ['call (+1 212-456-7890)', '+1 212-456-7890'],
  ])('in %s have both their parentheses', async (text, number) => {
    expect(await valuesOf('pii.phone', text)).toEqual([number]);
  });
});
