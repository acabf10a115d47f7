import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Invalid } from '../../../lib/errors.ts';

/** Says whether an address, in any spelling, lies in one of the ranges. */
export type AddressMatcher = (address: string) => boolean;

/**
 * The stored form of a range: host bits cleared, IPv4-mapped IPv6 as IPv4, addresses with their full length.
 * @throws Invalid naming `field` when the text is neither an address nor a CIDR range, or carries a zone id.
 */
export function normalizeRange(text: string, field: string): string {
  const range = parseRange(text);
  if (range === undefined) throw Invalid(`${field}: '${text}' is not an IP address or CIDR range`);
  const [address, length] = range;
  const network = clearHostBits(address, length);
  return `${network}/${length}`;
}

/** Whether the text is an address that can be judged: IPv4 or IPv6 without a zone id. */
export function isAddress(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'));
}

/**
 * Compiles stored ranges. `BlockList` matches in native code without parsing the ranges again, so the price of a
 * request is the parsing of its own address. An unreadable address is in no range.
 */
export function compileRanges(ranges: readonly string[]): AddressMatcher {
  // Two lists, because one would hold an IPv4 address against IPv6 ranges such as `::/0` as well.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const [network = '', length = ''] = text.split('/');
    const family = network.includes(':') ? 'ipv6' : 'ipv4';
    lists[family].addSubnet(network, Number(length), family);
  }
  return (address) => {
    if (isIPv4(address)) return lists.ipv4.check(address, 'ipv4');
    if (!isAddress(address)) return false;
    const mapped = asIPv4(ipaddr.IPv6.parse(address));
    return mapped === undefined
      ? lists.ipv6.check(address, 'ipv6')
      : lists.ipv4.check(mapped.toString(), 'ipv4');
  };
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const slash = text.indexOf('/');
  const host = slash === -1 ? text : text.slice(0, slash);
  if (!isAddress(host)) return undefined;
  const address = isIPv4(host) ? ipaddr.IPv4.parse(host) : ipaddr.IPv6.parse(host);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  const lengthText = slash === -1 ? String(bits) : text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(lengthText) || Number(lengthText) > bits) return undefined;
  const length = Number(lengthText);
  const mapped = address instanceof ipaddr.IPv6 && length >= 96 ? asIPv4(address) : undefined;
  return mapped === undefined ? [address, length] : [mapped, length - 96];
}

/** `::ffff:a.b.c.d` is the IPv4 address a dual-stack socket reports; judging it as IPv6 would let a rule be side-stepped. */
function asIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : undefined;
}

function clearHostBits(address: ipaddr.IPv4 | ipaddr.IPv6, length: number): string {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes).toString();
}
