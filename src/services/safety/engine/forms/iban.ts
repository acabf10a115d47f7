import { alphanumeric, classOf, digit, letter } from '../recognition/characters.ts';
import { isIbanSum } from '../recognition/check-digits.ts';
import type { Scan } from '../recognition/scan.ts';

/** The length of an IBAN by its country, from the registry of SWIFT. */
const lengths = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 ' +
    'LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 ' +
    'SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/**
 * Recognises an IBAN that begins with this run of letters and digits: in one piece, or in groups that are set apart by one space,
 * hyphen or dot, always the same.
 */
export function recogniseIban(scan: Scan, start: number, runEnd: number): void {
  const { text } = scan;
  const form = [letter, letter, digit, digit];
  if (form.some((bits, at) => (classOf(text.charCodeAt(start + at)) & bits) === 0)) return;
  const length = lengths.get(text.slice(start, start + 2).toUpperCase());
  if (length === undefined || runEnd - start > length || !scan.begins(start)) return;
  const found = collected(text, start, length);
  scan.work += 60;
  if (found === undefined || !scan.ends(found.end)) return;
  const iban = found.characters.toUpperCase();
  if (isIbanSum(iban)) scan.add('pii.iban', start, found.end, iban);
}

function collected(
  text: string,
  start: number,
  length: number,
): { characters: string; end: number } | undefined {
  let characters = '';
  let separator: string | undefined;
  for (let at = start; characters.length < length; at++) {
    const one = text.charAt(at);
    if ((classOf(text.charCodeAt(at)) & alphanumeric) !== 0) {
      characters += one;
      if (characters.length === length) return { characters, end: at + 1 };
      continue;
    }
    const isSeparator = one === ' ' || one === '-' || one === '.';
    if (!isSeparator || (separator ??= one) !== one) return undefined;
    if ((classOf(text.charCodeAt(at + 1)) & alphanumeric) === 0) return undefined;
  }
  return undefined;
}
