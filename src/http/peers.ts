import type { IncomingMessage } from 'node:http';
import { compileRanges, isAddress, unmapped } from '../lib/addresses.ts';

export interface Peers {
  /** The address that a request comes from. */
  addressOf(req: IncomingMessage): string;
}

/**
 * Trusts peers by CIDR (`PLINTH_TRUSTED_PROXY`). The client's address is the last one in a trusted proxy's `X-Forwarded-For`;
 * with several trusted hops it is the last address that is not a trusted hop.
 */
export function trustedPeers(cidrs: readonly string[]): Peers {
  if (cidrs.length === 0) return { addressOf: socketAddress };
  const isTrusted = compileRanges(cidrs);
  return {
    addressOf(req) {
      const peer = socketAddress(req);
      if (!isTrusted(withoutZone(peer))) return peer;
      const hops = String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .map((hop) => unmapped(withoutZone(hop.trim())))
        .filter(isAddress);
      return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? peer;
    },
  };
}

/** An IPv4 address is written as IPv4 even when it comes from a dual-stack socket. */
const socketAddress = (req: IncomingMessage) => unmapped(req.socket.remoteAddress ?? '');

/** A proxy on the same link is seen with the interface through which it is reached, which says nothing about its address. */
const withoutZone = (address: string) => address.split('%', 1)[0] ?? '';
