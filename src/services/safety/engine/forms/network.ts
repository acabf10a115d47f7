import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { classOf, digit, hexLetter, letter, runEnd, runStart, upper } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';

const hex = digit | hexLetter;
const longestIpv6 = 39;
const macLength = 17;
/** Of addresses that belong to no person: private, loopback and reserved ones. */
const weakBase = 0.4;
/** Of the numbers of versions and sections. */
const sectionBase = 0.2;
/** Addresses are rarely as small as the numbers of sections are. */
const largestOfSections = 31;
const mostBefore = 48;
const sectionWords =
  /(?:^|[^a-z])(?:v|ver|versions?|releases?|sect?|sections?|chapters?|clauses?|para|paragraphs?|articles?|annex|appendix|tables?|figures?|fig|rules?|requirements?|firmware|kernel|abschnitt|kapitel|ziffer|artikel|chapitre|sección|capítulo)[.:]? {0,2}$|§ {0,2}$|(?:[<>=~!]=|[~^]|~>) ?$/i;
const addressWords =
  /(?:^|[^a-z])(?:ips?|ipv4|addr|address|addresses|adresse|hosts?|hostname|server|client|dns|gateway|ping|peer|remote|proxy|router)(?:[^a-z][^\n]{0,24})?$/i;
/** Servers that everybody asks for names. */
const resolvers = new Set(['1.1.1.1', '1.0.0.1', '4.2.2.1', '4.2.2.2', '8.8.8.8', '8.8.4.4', '9.9.9.9']);

/** Recognises four numbers joined by dots, from the first on. */
export function recogniseIpv4(scan: Scan, start: number): void {
  const { text } = scan;
  if (!scan.begins(start)) return;
  let end = start;
  for (let group = 1; group <= 4; group++) {
    const next = runEnd(text, end, digit, 4);
    if (next === end || next - end > 3 || (group < 4 && text.charAt(next) !== '.')) return;
    end = group < 4 ? next + 1 : next;
  }
  scan.work += end - start;
  const isBlock = text.charAt(end) === '/';
  if ((!isBlock && !scan.ends(end)) || text.charAt(end) === '_') return;
  const address = text.slice(start, end);
  if (!isIPv4(address)) return;
  const isNetwork = isBlock || /^:[0-9]/.test(text.slice(end, end + 2));
  scan.add(
    'pii.ip_address',
    start,
    end,
    address,
    !isNetwork && isSection(scan, start, address) ? sectionBase : baseOf(address),
  );
}

/** Whether four numbers are those of a version or a section: by what stands before them, or because all are small. */
function isSection(scan: Scan, start: number, address: string): boolean {
  const { text } = scan;
  const before = text.slice(Math.max(0, start - mostBefore), start);
  scan.work += before.length;
  if (text.charAt(start - 1) === '/' && (classOf(text.charCodeAt(start - 2)) & letter) !== 0) return true;
  if (sectionWords.test(before)) return true;
  return (
    address.split('.').every((group) => Number(group) <= largestOfSections) &&
    baseOf(address) === undefined &&
    !resolvers.has(address) &&
    !addressWords.test(before)
  );
}

/** Recognises an IPv6 or a MAC address around a colon; what was looked at is not looked at again. */
export function recogniseColons(scan: Scan, colon: number): void {
  if (colon < scan.pastColons) return;
  const { text } = scan;
  const start = runStart(text, colon, hex, 5);
  let end = colon;
  while (end - start <= longestIpv6 + 7 && isAddressUnit(text.charCodeAt(end))) end++;
  scan.pastColons = end;
  scan.work += end - start;
  if (colon - start > 4 || !scan.begins(start) || text.charAt(start - 1) === ':') return;
  while (end > colon && /[.:]/.test(text.charAt(end - 1)) && !text.startsWith('::', end - 2)) end--;
  if (isAddressUnit(text.charCodeAt(end)) && !/[.:]/.test(text.charAt(end))) return;
  if (!scan.ends(end) && text.charAt(end) !== '/') return;
  const address = text.slice(start, end);
  if (address.length === macLength && isMac(address)) addMac(scan, start, end);
  else if (isIPv6(address) && isPlausibleIpv6(address))
    scan.add('pii.ip_address', start, end, ipaddr.parse(address).toString(), baseOf(address));
}

const isAddressUnit = (unit: number): boolean => (classOf(unit) & hex) !== 0 || unit === 58 || unit === 46;

/** `a::b` is an address, and also a name in C++ or a slice in Python; eight pairs are a fingerprint. */
const isPlausibleIpv6 = (address: string): boolean =>
  address.length >= 6 &&
  /[0-9]/.test(address) &&
  /[0-9a-f]{3}/i.test(address) &&
  address.split(':').filter(Boolean).length >= 3;

/** Recognises a MAC address in pairs joined by hyphens, from the first pair on. */
export function recogniseMac(scan: Scan, start: number): void {
  const end = start + macLength;
  scan.work += macLength;
  if (isMac(scan.text.slice(start, end)) && scan.begins(start) && !/[:-]/.test(scan.text.charAt(start - 1)))
    if (scan.ends(end) && !/[:-]/.test(scan.text.charAt(end))) addMac(scan, start, end);
}

const macForm = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}$/i;
/** No device has the address of nobody or of everybody. */
const isMac = (text: string): boolean =>
  macForm.test(text) && !/^(?:00[:-]){5}00$|^(?:ff[:-]){5}ff$/i.test(text);

const addMac = (scan: Scan, start: number, end: number): void =>
  scan.add('pii.mac_address', start, end, scan.text.slice(start, end).replaceAll(/[:-]/g, '').toUpperCase());

const baseOf = (address: string): number | undefined =>
  ipaddr.parse(address).range() === 'unicast' ? undefined : weakBase;

/** Whether a run of two characters may begin a MAC address with hyphens. */
export const mayBeginMac = (text: string, start: number, end: number): boolean =>
  end - start === 2 &&
  text.charAt(end) === '-' &&
  (classOf(text.charCodeAt(start)) & hex) !== 0 &&
  (classOf(text.charCodeAt(start + 1)) & (hex | upper)) !== 0;
