import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address lies in one of the ranges. Undefined when the text is not an address, see `isAddress`. */
export type AddressMatcher = (address: string) => boolean | undefined;

/** An address in a public range, at which a large cloud offers internal services of the host to its virtual machines. */
const cloudHost = '168.63.129.16';

/** Matches every spelling of an IPv4-mapped IPv6 address. Most other addresses are recognized here without a full parse. */
const perhapsMapped = /^[0:]+(?:ffff:|[0-9]+\.)/i;

/**
 * Whether the text is an address that rules can judge: IPv4 as four decimal numbers, or IPv6 without a zone id. A zone id names an
 * interface of one machine, so it means nothing to any other.
 */
export function isAddress(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'));
}

/**
 * Returns the canonical form of a CIDR range or of a single address: host bits cleared, IPv4-mapped IPv6 as IPv4, always with a
 * length. Equal ranges have equal forms. Undefined when the text is neither.
 */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  return range && `${clearHostBits(range)}/${range.length}`;
}

/**
 * Compiles ranges. `BlockList` matches in native code without parsing the ranges again, so a request costs only the parsing of its
 * own address. The families are separate: `::/0` contains no IPv4 address. An IPv4-mapped IPv6 address counts as IPv4.
 * @throws TypeError when one of the texts is not a range
 */
export function compileRanges(ranges: readonly string[]): AddressMatcher {
  // Two lists, because a single list would also match an IPv4 address against IPv6 ranges such as `::/0`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of ranges) {
    const range = parseRange(text);
    if (range === undefined) throw new TypeError(`'${text}' is not a range of addresses`);
    const family = range.address.kind();
    lists[family].addSubnet(range.address.toString(), range.length, family);
  }
  return (text) => {
    const address = unmapped(text);
    if (isIPv4(address)) return lists.ipv4.check(address, 'ipv4');
    return isAddress(address) ? lists.ipv6.check(address, 'ipv6') : undefined;
  };
}

/**
 * Converts an IPv4-mapped IPv6 address, which a dual-stack socket reports, to the IPv4 address. Treating it as IPv6 would let a
 * client evade a rule. Returns every other text unchanged.
 */
export function unmapped(address: string): string {
  if (!perhapsMapped.test(address) || !isAddress(address)) return address;
  // Sockets use this form, so it is read without a full parse.
  if (address.startsWith('::ffff:') && isIPv4(address.slice(7))) return address.slice(7);
  return asIPv4(ipaddr.IPv6.parse(address))?.toString() ?? address;
}

/**
 * Whether an IP address, in any notation, is on the public internet: not loopback, private, reserved, for tests or for tunnels. Of IPv6,
 * only `2000::/3` is: the rest is not assigned, or has a special use such as `::127.0.0.1`, the old form of an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === cloudHost) return false;
  return parsed.kind() === 'ipv4' || parsed.toByteArray()[0]! >> 5 === 1;
}

/** What one customer of a provider typically has: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function subscriberOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')}::/64`;
}

/** The /24 of an IPv4 address, or the /64 of an IPv6 address, in hex: the range that one attacker has for free. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const kept = parsed.kind() === 'ipv4' ? 3 : 8;
  return Buffer.from(parsed.toByteArray().slice(0, kept)).toString('hex');
}

interface Range {
  readonly address: ipaddr.IPv4 | ipaddr.IPv6;
  readonly length: number;
}

function parseRange(text: string): Range | undefined {
  const slash = text.indexOf('/');
  const host = slash === -1 ? text : text.slice(0, slash);
  if (!isAddress(host)) return undefined;
  const address = isIPv4(host) ? ipaddr.IPv4.parse(host) : ipaddr.IPv6.parse(host);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  const lengthText = slash === -1 ? String(bits) : text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(lengthText) || Number(lengthText) > bits) return undefined;
  const length = Number(lengthText);
  const mapped = address instanceof ipaddr.IPv6 && length >= 96 ? asIPv4(address) : undefined;
  return mapped === undefined ? { address, length } : { address: mapped, length: length - 96 };
}

function asIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : undefined;
}

function clearHostBits({ address, length }: Range): string {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes).toString();
}
