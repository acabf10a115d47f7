/**
 * Whether the host of a URL contains a wildcard. Such a URL is refused: anyone who controls one of the matching hosts, such as an
 * abandoned site at a hosting provider, would receive everything that is sent there.
 */
export const isWildHost = ({ hostname }: URL): boolean => hostname.includes('*');
