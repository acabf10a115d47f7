/** Made-up values of every kind of personal data, as people write them. Check digits are found by trying. */
import { isCreditCard } from '../forms/cards.ts';
import { isIbanSum, isLuhn } from '../recognition/check-digits.ts';
import { isBrCnpj, isBrCpf, isUsItin, isUsRouting, isUsSsn } from '../forms/national/americas.ts';
import {
  isAuAbn,
  isAuTfn,
  isCnResidentId,
  isInAadhaar,
  isKrRrn,
  isSgNric,
  isTrTckn,
  isZaId,
} from '../forms/national/asia-pacific.ts';
import {
  isBeNrn,
  isDeTaxId,
  isEsNif,
  isFiHetu,
  isFrNir,
  isGbNhs,
  isGbNino,
  isItFiscalCode,
  isNlBsn,
  isPlPesel,
  isPtNif,
  isSePersonnummer,
} from '../forms/national/europe.ts';
import { isVin } from '../forms/vehicles.ts';
import { base62, hex, lowerLetters, type Random, upperLetters } from './random.ts';

type Make = (random: Random) => string;

const pad = (value: number, length = 2) => `${value}`.padStart(length, '0');
const day = (random: Random) => pad(random.between(1, 28));
const month = (random: Random) => pad(random.between(1, 12));
const year = (random: Random) => random.between(1940, 2005);

/** Puts the characters into the places marked `#`. */
function laidOut(characters: string, layout: string): string {
  let at = 0;
  return layout.replaceAll('#', () => characters.charAt(at++));
}

/** Random digits that pass a check, in one of the layouts. */
const checked =
  (length: number, isRight: (digits: string) => boolean, ...layouts: string[]): Make =>
  (random) => {
    const value = random.until(() => random.digits(length), isRight);
    return laidOut(value, layouts.length === 0 ? '#'.repeat(length) : random.pick(layouts));
  };

/** Six digits of a date before what `rest` adds, until the whole passes. */
const dated =
  (order: 'ymd' | 'dmy', rest: number, isRight: (digits: string) => boolean, ...layouts: string[]): Make =>
  (random) => {
    const value = random.until(() => {
      const short = pad(year(random) % 100);
      const parts = [short, month(random), day(random)];
      return (order === 'ymd' ? parts : parts.reverse()).join('') + random.digits(rest);
    }, isRight);
    return laidOut(value, layouts.length === 0 ? '#'.repeat(value.length) : random.pick(layouts));
  };

const names = [
  'anna',
  'j.smith',
  'maria.garcia',
  'tom',
  'li.wei',
  'o.brien',
  'claire-dupont',
  'kenji',
  'sofia_r',
  'jürgen',
];
const domains = [
  'example.com',
  'mail.example.org',
  'acme.co.uk',
  'posteo.de',
  'firma.example',
  'university.edu',
  'xn--bcher-kva.example',
];

const email: Make = (random) => {
  const tag = random.chance(0.2) ? `+${random.characters(lowerLetters, 4)}` : '';
  const address = `${random.pick(names)}${random.chance(0.5) ? random.between(1, 999) : ''}${tag}@${random.pick(domains)}`;
  return random.chance(0.15) ? address.toUpperCase() : address;
};

const card: Make = (random) => {
  const [prefix, length, layout] = random.pick([
    ['4', 16, '#### #### #### ####'],
    [`5${random.between(1, 5)}`, 16, '####-####-####-####'],
    ['2221', 16, '################'],
    ['37', 15, '#### ###### #####'],
    ['6011', 16, '#### #### #### ####'],
    ['36', 14, '##############'],
    ['3530', 16, '################'],
    ['62', 19, '###################'],
  ] as const);
  return laidOut(
    random.until(() => prefix + random.digits(length - prefix.length), isCreditCard),
    layout,
  );
};

/** The beginnings of IBANs after the check digits, with the number of random digits behind them. */
const ibanForms = [
  ['DE', '', 18],
  ['GB', 'SWFT', 14],
  ['FR', '', 23],
  ['NL', 'RABO', 10],
  ['ES', '', 20],
  ['IT', 'X', 22],
  ['CH', '', 17],
  ['AT', '', 16],
  ['NO', '', 11],
  ['PL', '', 24],
] as const;

const iban: Make = (random) => {
  const [country, bank, length] = random.pick(ibanForms);
  const account = bank + random.digits(length);
  const value = random.until(() => country + random.digits(2) + account, isIbanSum);
  return random.chance(0.5) ? value.replace(/(.{4})(?=.)/g, '$1 ') : value;
};

const internationalPhone: Make = (random) =>
  random.pick([
    () => `+1 ${random.pick(['212', '415', '312'])}-${random.between(201, 989)}-${random.digits(4)}`,
    () => `+1 (${random.pick(['212', '415', '312'])}) ${random.between(201, 989)}-${random.digits(4)}`,
    () => `+44 20 7${random.digits(3)} ${random.digits(4)}`,
    () => `+447${random.between(700, 899)}${random.digits(6)}`,
    () => `+49 30 ${random.between(2, 8)}${random.digits(5)}`,
    () => `+49 (0)89 ${random.between(2, 8)}${random.digits(6)}`,
    () => `+33 6 ${random.between(10, 79)} ${random.digits(2)} ${random.digits(2)} ${random.digits(2)}`,
    () => `+34 6${random.digits(2)} ${random.digits(3)} ${random.digits(3)}`,
    () => `+81 90-${random.between(1_000, 9_999)}-${random.digits(4)}`,
    () => `+91 98${random.digits(3)} ${random.digits(5)}`,
  ])();

const nationalPhone: Make = (random) =>
  laidOut(
    random.pick(['212', '415', '312', '617']) + random.between(201, 989) + random.digits(4),
    random.pick(['(###) ###-####', '###-###-####', '###.###.####', '### ### ####']),
  );

const ipv4: Make = (random) =>
  [
    random.pick([8, 23, 52, 81, 93, 104, 142, 185, 203]),
    random.between(1, 254),
    random.between(0, 255),
    random.between(1, 254),
  ]
    .join('.')
    .replace(/^203\.0\.113/, '203.1.113');
const ipv6: Make = (random) =>
  random.chance(0.5)
    ? `2a02:${random.characters(hex, 4)}:${random.characters(hex, 4)}::${random.characters('123456789', 2)}`
    : `2600:${Array.from({ length: 7 }, () => random.characters('123456789abcdef', 4)).join(':')}`;

const mac: Make = (random) => {
  const pairs = Array.from({ length: 6 }, () => random.characters(hex, 2));
  const text = pairs.join(random.pick([':', '-']));
  return random.chance(0.5) ? text.toUpperCase() : text;
};

const birthDate: Make = (random) =>
  random.pick([
    () => `${year(random)}-${month(random)}-${day(random)}`,
    () => `${day(random)}.${month(random)}.${year(random)}`,
    () => `${month(random)}/${day(random)}/${year(random)}`,
    () => `${random.between(1, 28)} ${random.pick(['March', 'July', 'October'])} ${year(random)}`,
    () => `${random.pick(['May', 'June', 'December'])} ${random.between(1, 28)}, ${year(random)}`,
  ])();

const mrzValue = (text: string): string => {
  const values = [...text].map((one) => (one === '<' ? 0 : Number.parseInt(one, 36)));
  return `${values.reduce((sum, value, at) => sum + value * [7, 3, 1][at % 3]!, 0) % 10}`;
};

const mrz: Make = (random) => {
  const surname = random.pick(['ERIKSSON', 'MUSTERMANN', 'SMITH', 'GARCIA']);
  const given = random.pick(['ANNA<MARIA', 'ERIKA', 'JOHN', 'LUIS']);
  const first = `P<UTO${surname}<<${given}`.padEnd(44, '<');
  const document = random.characters(upperLetters + '0123456789', 9);
  const born = pad(year(random) % 100) + month(random) + day(random);
  const expires = `${random.between(27, 35)}${month(random)}${day(random)}`;
  const optional = '<'.repeat(14);
  const checked =
    document + mrzValue(document) + born + mrzValue(born) + expires + mrzValue(expires) + optional + '0';
  const line = `${document}${mrzValue(document)}UTO${born}${mrzValue(born)}F${expires}${mrzValue(expires)}${optional}0`;
  return `${first}\n${line}${mrzValue(checked)}`;
};

/** One letter or digit at the end that the check chooses. */
const closed = (
  random: Random,
  make: () => string,
  alphabet: string,
  isRight: (id: string) => boolean,
): string => random.until(() => make() + random.characters(alphabet, 1), isRight);

const bitcoin = [
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
];
const ethereum = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
];

export const identities: Readonly<Record<string, Make>> = {
  email,
  credit_card: card,
  iban,
  phone: internationalPhone,
  national_phone: nationalPhone,
  ip_address: (random) => (random.chance(0.7) ? ipv4(random) : ipv6(random)),
  mac_address: mac,
  us_ssn: checked(9, isUsSsn, '###-##-####', '###-##-####', '### ## ####', '#########'),
  us_itin: (random) =>
    checked(9, (digits) => digits.startsWith('9') && isUsItin(digits), '###-##-####')(random),
  us_routing: checked(9, isUsRouting),
  gb_nhs: checked(10, isGbNhs, '### ### ####', '###-###-####', '##########'),
  gb_nino: (random) =>
    laidOut(
      random.until(
        () => random.characters(upperLetters, 2) + random.digits(6) + random.pick(['A', 'B', 'C', 'D']),
        isGbNino,
      ),
      random.pick(['#########', '## ## ## ## #']),
    ),
  de_tax_id: checked(11, isDeTaxId, '###########', '## ### ### ###'),
  es_nif: (random) =>
    closed(
      random,
      () => random.pick(['', 'X', 'Y']) + random.digits(7),
      upperLetters,
      (id) => id.length === 9 && isEsNif(id),
    ),
  fr_nir: (random) => {
    const value = random.until(
      () =>
        `${random.pick(['1', '2'])}${pad(year(random) % 100)}${month(random)}${random.between(10, 95)}${random.digits(8)}`,
      isFrNir,
    );
    return laidOut(value, random.pick(['###############', '# ## ## ## ### ### ##']));
  },
  it_fiscal_code: (random) =>
    closed(
      random,
      () =>
        `${random.characters('BCDFGLMNPRST', 6)}${pad(year(random) % 100)}${random.pick(['A', 'B', 'H', 'T'])}${day(random)}${random.pick(['F', 'H', 'L'])}${random.digits(3)}`,
      upperLetters,
      isItFiscalCode,
    ),
  nl_bsn: checked(9, isNlBsn),
  pl_pesel: dated('ymd', 5, isPlPesel),
  fi_hetu: (random) =>
    closed(
      random,
      () => `${day(random)}${month(random)}${pad(random.between(40, 99))}-${random.between(100, 899)}`,
      '0123456789ABCDEFHJKLMNPRSTUVWXY',
      isFiHetu,
    ),
  se_personnummer: dated('ymd', 4, isSePersonnummer, '######-####', '##########'),
  pt_nif: checked(9, isPtNif, '#########', '### ### ###'),
  be_nrn: dated('ymd', 5, isBeNrn, '##.##.##-###.##', '###########'),
  br_cpf: checked(11, isBrCpf, '###.###.###-##', '###.###.###-##', '###########'),
  br_cnpj: checked(14, isBrCnpj, '##.###.###/####-##'),
  in_aadhaar: checked(12, isInAadhaar, '#### #### ####', '############'),
  in_pan: (random) =>
    `${random.characters(upperLetters, 3)}P${random.characters(upperLetters, 1)}${random.digits(4)}${random.characters(upperLetters, 1)}`,
  ca_sin: checked(9, isLuhn, '### ### ###', '###-###-###'),
  au_tfn: checked(9, isAuTfn, '### ### ###', '#########'),
  au_abn: checked(11, isAuAbn, '## ### ### ###'),
  cn_resident_id: (random) =>
    closed(
      random,
      () =>
        `${random.pick(['110105', '310101', '440304'])}${year(random)}${month(random)}${day(random)}${random.digits(3)}`,
      '0123456789X',
      isCnResidentId,
    ),
  sg_nric: (random) =>
    closed(random, () => random.pick(['S', 'T', 'F', 'G', 'M']) + random.digits(7), upperLetters, isSgNric),
  kr_rrn: dated('ymd', 7, (digits) => '12'.includes(digits.charAt(6)) && isKrRrn(digits), '######-#######'),
  za_id: dated('ymd', 7, isZaId),
  tr_tckn: checked(11, isTrTckn),
  passport_mrz: mrz,
  vin: (random) =>
    random.until(
      () => `1${random.characters('ABCDEFGHJKLMNPRSTUVWXYZ0123456789', 10)}${random.digits(6)}`,
      isVin,
    ),
  imei: checked(
    15,
    (digits) => digits.startsWith('35') && isLuhn(digits),
    '###############',
    '##-######-######-#',
  ),
  bitcoin_address: (random) => random.pick(bitcoin),
  ethereum_address: (random) =>
    random.chance(0.5) ? random.pick(ethereum) : `0x${random.characters(hex, 40)}`,
  date_of_birth: birthDate,
  geo_coordinates: (random) =>
    `${random.chance(0.3) ? '-' : ''}${random.between(1, 60)}.${random.digits(random.between(3, 6))}, ${random.chance(0.4) ? '-' : ''}${random.between(1, 170)}.${random.digits(random.between(3, 6))}`,
  url_credentials: (random) => `${random.pick(names).replace('ü', 'ue')}:${random.characters(base62, 10)}`,
};
