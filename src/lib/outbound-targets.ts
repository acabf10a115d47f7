import { isIP } from 'node:net';
import { compileRanges, isPublicAddress } from './addresses.ts';
import { isWildHost } from './hosts.ts';

/** Which addresses the server may contact when an outside party chose the address. */
export interface OutboundPolicy {
  /** Whether private and loopback addresses and plain `http` are allowed, as on a developer's own machine. */
  readonly allowPrivate: boolean;
  /** CIDR ranges that may be reached although they are private. */
  readonly allowNetworks: readonly string[];
  /** CIDR ranges that may not be reached although they are public. They win over everything that is allowed. */
  readonly refuseNetworks?: readonly string[];
  /** Ports that may not be reached, instead of `badPorts`. */
  readonly refusedPorts?: ReadonlySet<number>;
}

/** The address may not be reached. The message gives the reason to the person who chose the address. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

export interface Targets {
  /** Returns the problem of a URL, without a DNS lookup; undefined when there is none. */
  readonly judge: (url: string) => string | undefined;
  /** Whether a connection to this IP address is allowed. */
  readonly mayReach: (address: string) => boolean;
}

/**
 * Ports of protocols whose servers could mistake an HTTP request for their own commands, such as mail: the list of bad ports in the
 * Fetch standard (section 2.9), which browsers refuse too.
 */
export const badPorts: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
  ...[101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
  ...[389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587],
  ...[601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061],
  ...[6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/** The rules of a policy for URLs and for addresses. */
export function targetRules(policy: OutboundPolicy): Targets {
  const { allowPrivate, allowNetworks, refuseNetworks = [], refusedPorts = badPorts } = policy;

  const [refused, allowed] = [compileRanges(refuseNetworks), compileRanges(allowNetworks)];

  const mayReach = (address: string) =>
    refused(address) !== true && (allowPrivate || isPublicAddress(address) || allowed(address) === true);

  /** Plain `http` is allowed to the networks that the operator allowed. */
  function isAllowedHost(url: URL): boolean {
    const literal = hostAddress(url);
    return literal !== undefined && allowed(literal) === true;
  }

  return {
    mayReach,
    judge(text) {
      const url = URL.parse(text);
      if (!url) return 'must be an absolute URL';
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (allowPrivate || isAllowedHost(url))))
        return 'must be an https URL';
      if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
      if (isWildHost(url)) return 'must not hold a wildcard';
      if (url.hash !== '') return 'must not have a fragment';
      if (url.port !== '' && refusedPorts.has(Number(url.port))) return `must not name port ${url.port}`;
      const literal = hostAddress(url);
      if (literal !== undefined && !mayReach(literal)) return 'address not allowed';
      return undefined;
    },
  };
}

/** The IP address in a URL that has one instead of a name. The URL parser has normalized every notation of IPv4. */
function hostAddress({ hostname }: URL): string | undefined {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(host) === 0 ? undefined : host;
}
