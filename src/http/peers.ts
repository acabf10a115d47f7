import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';

export interface Peers {
  /** The address a request comes from, and whether its identity headers count. */
  judge(req: IncomingMessage): { ip: string; trusted: boolean };
}

/**
 * Peers by CIDR (`PLINTH_TRUSTED_PROXY`). What a trusted proxy puts last into `X-Forwarded-For` is the client's address;
 * of several trusted hops the last address that is not one of them.
 */
export function trustedPeers(cidrs: readonly string[]): Peers {
  if (cidrs.length === 0) return { judge: (req) => ({ ip: addressOf(req), trusted: false }) };
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  const trusts = (address: string) =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return {
    judge(req) {
      const peer = addressOf(req);
      if (!trusts(peer)) return { ip: peer, trusted: false };
      const hops = String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .map((hop) => plain(hop.trim()))
        .filter(isIP);
      return { ip: hops.findLast((hop) => !trusts(hop)) ?? hops[0] ?? peer, trusted: true };
    },
  };
}

const addressOf = (req: IncomingMessage) => plain(req.socket.remoteAddress ?? '');

/** IPv4 as IPv4, also where the socket is a dual-stack one. */
const plain = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);
