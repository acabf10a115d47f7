/** Ids of letters and digits that are one run, or nearly. */
import { recogniseBitcoin, recogniseEthereum } from './coins.ts';
import { isBrCnpj } from './national/americas.ts';
import { isCnResidentId, isInPan, isSgNric } from './national/asia-pacific.ts';
import { isEsNif, isFiHetu, isFrNir, isGbNino, isItFiscalCode, isSePersonnummer } from './national/europe.ts';
import type { Scan } from '../recognition/scan.ts';
import { isVin } from './vehicles.ts';

interface Code {
  readonly type: string;
  readonly form: RegExp;
  readonly isValid: (id: string) => boolean;
  readonly base: number;
}

const code = (type: string, form: RegExp, isValid: (id: string) => boolean, base = 0.6): Code => ({
  type: `pii.${type}`,
  form,
  isValid,
  base,
});

/** The codes that are one run, by their length. */
const byLength: Record<number, readonly Code[]> = {
  9: [
    code('es_nif', /^(?:[0-9]{8}|[XYZ][0-9]{7})[A-Z]$/, isEsNif),
    code('sg_nric', /^[STFGM][0-9]{7}[A-Z]$/, isSgNric),
    code('gb_nino', /^[A-Z]{2}[0-9]{6}[A-D]$/, isGbNino),
  ],
  10: [code('in_pan', /^[A-Z]{5}[0-9]{4}[A-Z]$/, isInPan)],
  11: [code('fi_hetu', /^[0-9]{6}[A-Y][0-9]{3}[0-9A-Y]$/, isFiHetu)],
  14: [code('br_cnpj', /^[0-9A-Z]{12}[0-9]{2}$/, isBrCnpj)],
  15: [code('fr_nir', /^[0-9]{6}[AB][0-9]{8}$/, isFrNir)],
  16: [code('it_fiscal_code', /^[A-Z]{6}[0-9A-Z]{10}$/, isItFiscalCode)],
  17: [code('vin', /^[A-HJ-NPR-Z0-9]{17}$/, isVin, 0.5)],
  18: [code('cn_resident_id', /^[0-9]{17}X$/, isCnResidentId)],
};

/** Codes with separators inside, by the length of their first run. Anchored and bounded. */
const separated: Record<number, readonly Code[]> = {
  1: [code('es_nif', /^[XYZ][ -][0-9]{7}[ -]?[A-Z]/, isEsNif)],
  2: [
    code('gb_nino', /^[A-Z]{2}([ -])[0-9]{2}\1[0-9]{2}\1[0-9]{2}\1[A-D]/, isGbNino),
    code('es_nif', /^[0-9]{2}\.[0-9]{3}\.[0-9]{3}[ -]?[A-Z]/, isEsNif),
    code('br_cnpj', /^[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-[0-9]{2}/, isBrCnpj),
  ],
  6: [
    code('fi_hetu', /^[0-9]{6}[-+][0-9]{3}[0-9A-Y]/, isFiHetu),
    code('se_personnummer', /^[0-9]{6}\+[0-9]{4}/, isSePersonnummer, 0.25),
    code('it_fiscal_code', /^[A-Z]{6} [0-9A-Z]{2}[A-Z][0-9A-Z]{2} [A-Z][0-9A-Z]{3} ?[A-Z]/, isItFiscalCode),
  ],
  8: [
    code('es_nif', /^[0-9]{8}[ -][A-Z]/, isEsNif),
    code('se_personnummer', /^[0-9]{8}\+[0-9]{4}/, isSePersonnummer, 0.25),
  ],
};
const longestSeparated = 24;
const separatorsInside = /[ .\-/]/g;

/** In lower case an id is as likely a piece of a hash: it needs context. */
const lowerCaseBase = 0.25;

/** Recognises a code that is this run of letters and digits, with at least one digit. */
export function recogniseCode(scan: Scan, start: number, end: number): void {
  const { text } = scan;
  const length = end - start;
  const codes = byLength[length];
  if (codes !== undefined) {
    scan.work += codes.length * 20;
    if (scan.begins(start) && scan.ends(end)) judge(scan, codes, start, end);
  }
  const unit = text.charCodeAt(start);
  if (length >= 26 && length <= 36 && (unit === 49 || unit === 51)) recogniseBitcoin(scan, start, end);
  if (length >= 11 && length <= 90 && (unit === 98 || unit === 66)) recogniseBitcoin(scan, start, end);
  if (length === 42 && unit === 48) recogniseEthereum(scan, start, end);
}

function judge(scan: Scan, codes: readonly Code[], start: number, end: number): void {
  const written = scan.text.slice(start, end);
  const id = written.toUpperCase();
  for (const { type, form, isValid, base } of codes)
    if (scan.wants(type) && form.test(id) && isValid(id))
      scan.add(type, start, end, id, written === id ? base : lowerCaseBase);
}

/** Recognises a code whose first part is this run, and which goes on behind a separator. */
export function recogniseSeparatedCode(scan: Scan, start: number, end: number): void {
  const codes = separated[end - start];
  if (codes === undefined || !/[ .+-]/.test(scan.text.charAt(end))) return;
  scan.work += 40;
  const ahead = scan.text.slice(start, start + longestSeparated);
  for (const { type, form, isValid, base } of codes) {
    const match = scan.wants(type) ? form.exec(ahead)?.[0] : undefined;
    if (match === undefined || !scan.begins(start) || !scan.ends(start + match.length)) continue;
    const id = type === 'pii.fi_hetu' ? match : match.replaceAll(separatorsInside, '').replace('+', '');
    if (isValid(id)) scan.add(type, start, start + match.length, id, base);
  }
}
