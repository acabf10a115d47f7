/** What numbers look like that consist of digits and separators: their layouts, with the check that each has to pass. */
import { isCreditCard } from './cards.ts';
import { isDate, isLuhn } from '../recognition/check-digits.ts';
import { isBrCnpj, isBrCpf, isUsItin, isUsRouting, isUsSsn } from './national/americas.ts';
import {
  isAuAbn,
  isAuTfn,
  isCnResidentId,
  isInAadhaar,
  isKrRrn,
  isTrTckn,
  isZaId,
} from './national/asia-pacific.ts';
import {
  isBeNrn,
  isDeTaxId,
  isFrNir,
  isGbNhs,
  isNlBsn,
  isPlPesel,
  isPtNif,
  isSePersonnummer,
} from './national/europe.ts';

export interface NumberForm {
  readonly type: string;
  readonly isValid: (digits: string) => boolean;
  /** The base of this layout where it is not that of the detector. */
  readonly base: number | undefined;
  /** Whether no further group of digits may stand next to it, set off by a space. */
  readonly alone: boolean;
}

/** The separators in layouts; their place is their code in a key. */
const separators = ' -./';

/** How a further group changes the key of a layout. The key of eight groups is still an exact integer. */
export const extendedKey = (key: number, separator: number, length: number): number =>
  key * 80 + separator * 20 + length;

/** The code of a unit as a separator; -1 for other units. */
export const separatorCode = (unit: number): number =>
  unit === 32 ? 0 : unit >= 45 && unit <= 47 ? unit - 44 : -1;

function keyOf(layout: string): number {
  let key = 0;
  for (const [, separator = ' ', length] of layout.matchAll(/([ \-./])?([0-9]+)/g))
    key = extendedKey(key, separators.indexOf(separator), Number(length));
  return key;
}

const byKey = new Map<number, NumberForm[]>();

/** The forms of a layout; undefined for most. */
export const formsOf = (key: number): readonly NumberForm[] | undefined => byKey.get(key);

/** `~` in a layout stands for a space or a hyphen, the same at all places. */
function add(type: string, isValid: (digits: string) => boolean, layouts: string[], base?: number): void {
  for (const each of layouts)
    for (const layout of each.includes('~') ? [' ', '-'].map((one) => each.replaceAll('~', one)) : [each]) {
      const key = keyOf(layout);
      const alone = layout.includes(' ') && type !== 'credit_card';
      const form = { type: `pii.${type}`, isValid, base, alone };
      byKey.set(key, [...(byKey.get(key) ?? []), form]);
    }
}

const lengths = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, nth) => `${first + nth}`);

add('credit_card', isCreditCard, [
  ...lengths(14, 19),
  ...['4~4~4~4', '4~6~5', '4~6~4', '4~4~4', '4~4~4~1', '4~4~4~2', '4~4~4~3', '4~4~5', '4~4~4~4~3'],
  ...['4~4~4~4~1', '4~4~4~4~2', '6~13', '4~3~3~3'],
]);

// Twelve and thirteen digits are rare among cards, and common among other numbers.
add('credit_card', isCreditCard, ['12', '13'], 0.4);

add('us_ssn', isUsSsn, ['3~2~4']);
add('us_ssn', isUsSsn, ['9'], 0.15);
add('us_itin', isUsItin, ['3~2~4']);
add('us_itin', isUsItin, ['9'], 0.15);
add('us_routing', isUsRouting, ['9']);
add('br_cpf', isBrCpf, ['3.3.3-2'], 0.6);
add('br_cpf', isBrCpf, ['11', '9-2']);
add('br_cnpj', isBrCnpj, ['2.3.3/4-2'], 0.6);
add('br_cnpj', isBrCnpj, ['14']);
add('ca_sin', isLuhn, ['3~3~3'], 0.6);
add('ca_sin', isLuhn, ['9']);

add('gb_nhs', isGbNhs, ['10', '3~3~4']);
add('de_tax_id', isDeTaxId, ['11', '2 3 3 3']);
add('fr_nir', isFrNir, ['15', '13 2', '1 2 2 2 3 3 2', '1 2 2 2 3 3-2', '1-2-2-2-3-3-2', '1.2.2.2.3.3.2']);
add('nl_bsn', isNlBsn, ['9', '4.2.3', '4 2 3', '3.3.3']);
add('pl_pesel', isPlPesel, ['11']);
add('se_personnummer', isSePersonnummer, ['10', '12', '6-4', '8-4']);
add('pt_nif', isPtNif, ['9', '3 3 3']);
add('be_nrn', isBeNrn, ['11', '2.2.2-3.2', '2.2.2-3-2', '6-3-2', '6 3 2', '2.2.2-3 2', '2 2 2 3 2']);

add('in_aadhaar', isInAadhaar, ['4~4~4'], 0.6);
add('in_aadhaar', isInAadhaar, ['12']);
add('au_tfn', isAuTfn, ['3~3~3'], 0.6);
add('au_tfn', isAuTfn, ['9', '8', '2 3 3']);
add('au_abn', isAuAbn, ['2 3 3 3'], 0.6);
add('au_abn', isAuAbn, ['11']);
add('cn_resident_id', isCnResidentId, ['18', '6 8 4']);
add('kr_rrn', isKrRrn, ['6-7'], 0.6);
add('kr_rrn', isKrRrn, ['13']);
add('za_id', isZaId, ['6 4 2 1', '6 4 3'], 0.6);
add('za_id', isZaId, ['13']);
add('tr_tckn', isTrTckn, ['11', '3 3 3 2']);

add('imei', isLuhn, ['15', '2-6-6-1', '2 6 6 1', '8-6-1']);

/** Of the two groups beside the year either may be the month, unless the year comes first. */
function isBirthDate(year: string, first: string, second: string, yearFirst: boolean): boolean {
  if (year < '1900' || year > '2099') return false;
  return (
    isDate(Number(year), Number(first), Number(second)) ||
    (!yearFirst && isDate(Number(year), Number(second), Number(first)))
  );
}
for (const separator of '-/.')
  for (const first of [1, 2])
    for (const second of [1, 2]) {
      const layout = [first, second].join(separator);
      const end = 4 + first;
      add(
        'date_of_birth',
        (digits) => isBirthDate(digits.slice(0, 4), digits.slice(4, end), digits.slice(end), true),
        [`4${separator}${layout}`],
      );
      add(
        'date_of_birth',
        (digits) => isBirthDate(digits.slice(-4), digits.slice(0, first), digits.slice(first, -4), false),
        [`${layout}${separator}4`],
      );
    }
