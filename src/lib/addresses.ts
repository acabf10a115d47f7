import ipaddr from 'ipaddr.js';

/** Public by its range, and yet the host's own services to the machines of a large cloud. */
const cloudHost = '168.63.129.16';

/** Whether an IP address, in any spelling, is one of the public internet: not of a machine, a network, a test or a tunnel. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && parsed.toString() !== cloudHost;
}

/** Whether the address lies in one of the CIDR ranges. An IPv4 address that is written as IPv6 counts as IPv4. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === parsed.kind() && parsed.match(base, bits);
  });
}
