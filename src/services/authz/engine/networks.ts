import { BlockList, isIP } from 'node:net';

const MAPPED = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** A set of CIDR blocks (a bare address is a block of one), or undefined when one of the texts is none. */
export function parseNetworks(texts: readonly unknown[]): BlockList | undefined {
  const networks = new BlockList();
  for (const text of texts) {
    if (typeof text !== 'string') return undefined;
    const [address = '', length, ...more] = text.split('/');
    const unwrapped = unwrap(address);
    const family = isIP(unwrapped);
    const bits = family === 4 ? 32 : 128;
    if (family === 0 || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length)))
      return undefined;
    // A block written in mapped form, ::ffff:10.0.0.0/104, is the IPv4 block of 8 bits.
    const prefix = length === undefined ? bits : Number(length) - (unwrapped === address ? 0 : 96);
    if (prefix < 0 || prefix > bits) return undefined;
    networks.addSubnet(unwrapped, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

/** Whether an address lies in one of the blocks; undefined when the text is no address. */
export function isInside(networks: BlockList, text: string): boolean | undefined {
  const address = unwrap(text);
  const family = isIP(address);
  if (family === 0) return undefined;
  return networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** `::ffff:192.0.2.1` and `::ffff:c000:201` are the IPv4 address 192.0.2.1. */
function unwrap(address: string): string {
  const match = MAPPED.exec(address);
  if (match === null) return address;
  if (match[1] !== undefined) return match[1];
  const [high, low] = [parseInt(match[2] ?? '0', 16), parseInt(match[3] ?? '0', 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
