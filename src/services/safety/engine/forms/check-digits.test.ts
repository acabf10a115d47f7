import { stdnum } from 'stdnum';
import { describe, expect, it } from 'vitest';
import { Random } from '../corpus/random.ts';
import { isVerhoeff } from '../recognition/check-digits.ts';
import * as americas from './national/americas.ts';
import * as asia from './national/asia-pacific.ts';
import * as europe from './national/europe.ts';

type Country = keyof typeof stdnum;

/** Another implementation of the same rules, which is right but too slow for every number of a text. */
function oracle(country: Country, name: string): (id: string) => boolean {
  const validator = (stdnum[country] as Record<string, { validate(id: string): { isValid: boolean } }>)[
    name
  ]!;
  return (id) => validator.validate(id).isValid;
}

const digits = (length: number) => (random: Random) => random.digits(length);
const two = (value: number) => `${value}`.padStart(2, '0');
const date = (random: Random) => [
  two(random.between(0, 99)),
  two(random.between(1, 12)),
  two(random.between(1, 28)),
];

/** Each check with its oracle, and random numbers of which enough are right. */
const checks: readonly (readonly [
  name: string,
  isValid: (id: string) => boolean,
  oracle: (id: string) => boolean,
  make: (random: Random) => string,
])[] = [
  [
    'de_tax_id',
    europe.isDeTaxId,
    oracle('DE', 'idnr'),
    (random) => {
      const nine = [...'123456789'].sort(() => random.next() - 0.5).join('');
      return nine + random.pick([...nine]) + random.digits(1);
    },
  ],
  [
    'es_nif',
    europe.isEsNif,
    oracle('ES', 'nif'),
    (random) => random.pick(['', 'X', 'Y', 'Z']) + random.digits(8) + 'A',
  ],
  [
    'nl_bsn',
    europe.isNlBsn,
    oracle('NL', 'bsn'),
    (random) => random.pick(['0', '1', '2']) + random.pick(['1', '5', '9']) + random.digits(7),
  ],
  ['pl_pesel', europe.isPlPesel, oracle('PL', 'pesel'), (random) => date(random).join('') + random.digits(5)],
  [
    'pt_nif',
    europe.isPtNif,
    oracle('PT', 'nif'),
    (random) => random.pick(['1', '2', '3', '5', '6', '8', '9']) + random.digits(8),
  ],
  [
    'be_nrn',
    europe.isBeNrn,
    oracle('BE', 'nn'),
    (random) => {
      const nine = `${random.between(40, 99)}${two(random.between(1, 12))}${two(random.between(1, 28))}${random.between(100, 900)}`;
      return nine + two(97 - (Number(nine) % 97) + random.between(0, 1));
    },
  ],
  [
    'fr_nir',
    europe.isFrNir,
    oracle('FR', 'nir'),
    (random) => {
      const begun = `1${two(random.between(0, 99))}${two(random.between(1, 12))}75${random.digits(6)}`;
      return begun + two(97 - (Number(begun) % 97) + random.between(0, 1));
    },
  ],
  [
    'fi_hetu',
    europe.isFiHetu,
    oracle('FI', 'hetu'),
    (random) => {
      const [, month, day] = date(random);
      return `${day}${month}${random.between(40, 99)}-${random.between(100, 899)}${random.characters('0123456789ABCDEFHJKLMNPRSTUVWXY', 1)}`;
    },
  ],
  ['br_cpf', americas.isBrCpf, oracle('BR', 'cpf'), digits(11)],
  ['br_cnpj', americas.isBrCnpj, oracle('BR', 'cnpj'), digits(14)],
  [
    'in_aadhaar',
    (id) => asia.isInAadhaar(id),
    oracle('IN', 'aadhaar'),
    (random) => random.pick(['2', '5', '9']) + random.digits(11),
  ],
  ['au_tfn', asia.isAuTfn, oracle('AU', 'tfn'), digits(9)],
  ['au_abn', asia.isAuAbn, oracle('AU', 'abn'), (random) => random.pick(['1', '5', '8']) + random.digits(10)],
  [
    'tr_tckn',
    asia.isTrTckn,
    oracle('TR', 'tckimlik'),
    (random) => random.pick(['1', '2', '9']) + random.digits(10),
  ],
  [
    'cn_resident_id',
    asia.isCnResidentId,
    oracle('CN', 'ric'),
    (random) => {
      const [year, month, day] = date(random);
      return `11010519${year}${month}${day}${random.digits(3)}${random.characters('0123456789X', 1)}`;
    },
  ],
  [
    'za_id',
    asia.isZaId,
    oracle('ZA', 'idnr'),
    (random) => `${date(random).join('')}${random.digits(4)}0${random.digits(2)}`,
  ],
];

describe.each(checks)('%s', (_, isValid, isRight, make) => {
  it('agrees with another implementation', () => {
    const random = new Random(7);
    let right = 0;
    for (let at = 0; at < 400; at++) {
      // All check digits of a number, or the same number with its neighbours.
      const id = make(random);
      const ids = /[0-9]$/.test(id)
        ? Array.from({ length: 10 }, (_, last) => id.slice(0, -1) + last)
        : closings(id);
      for (const each of at < 40 ? ids : [id]) {
        expect(isValid(each), each).toBe(isRight(each));
        if (isValid(each)) right++;
      }
    }
    expect(right).toBeGreaterThan(3);
  });
});

const closings = (id: string) => [...'ABCDEFGHJKLMNPQRSTVWXYZ'].map((letter) => id.slice(0, -1) + letter);

it('finds each single wrong digit and each transposition of neighbours by Verhoeff', () => {
  const right = '234123412346';
  expect(isVerhoeff(right)).toBe(true);
  for (let at = 0; at < right.length; at++)
    for (let other = 0; other < 10; other++)
      if (`${other}` !== right[at])
        expect(isVerhoeff(right.slice(0, at) + other + right.slice(at + 1))).toBe(false);
  for (let at = 0; at + 1 < right.length; at++)
    if (right[at] !== right[at + 1])
      expect(isVerhoeff(right.slice(0, at) + right[at + 1] + right[at] + right.slice(at + 2))).toBe(false);
});
