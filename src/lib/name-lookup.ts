import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** Looks the addresses of a name up. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface NameLookupOptions {
  /** The servers that are asked, as `address:port`; those of the system when absent. */
  readonly servers?: readonly string[];
  /** Milliseconds until a server that does not answer is asked once more. */
  readonly timeoutMs?: number;
}

const tries = 2;
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** Codes that say that there is no such name, or that it has no address. */
const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Asks the name servers without occupying a thread. The lookup of the operating system does that: Node has two threads for it, and two
 * names whose servers never answer would keep the connections to all other names waiting. It knows nothing of the hosts file or of search
 * domains, which name hosts of the server's own network.
 */
export function nameLookup({ servers, timeoutMs = 1_000 }: NameLookupOptions = {}): Lookup {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  if (servers !== undefined) resolver.setServers(servers);

  return (hostname, { family }, done) => {
    if (isLoopback(hostname)) return done(null, loopback);
    const ask = (wanted: 4 | 6) =>
      family === wanted || !family ? resolver[`resolve${wanted}`](hostname) : Promise.resolve([]);
    void Promise.allSettled([ask(4), ask(6)]).then(([four, six]) => {
      const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
      if (found.length > 0) return done(null, found);
      const codes = [four, six].flatMap((asked) =>
        asked.status === 'rejected' ? [codeOf(asked.reason)] : [],
      );
      return done(codes.every((code) => absent.has(code)) ? failure('ENOTFOUND') : failure('EAI_AGAIN'), []);
    });
  };
}

/** These names never leave the machine (RFC 6761, section 6.3). */
const isLoopback = (hostname: string) => /(?:^|\.)localhost\.?$/i.test(hostname);

const addressesOf = (asked: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  asked.status === 'fulfilled' ? asked.value.map((address) => ({ address, family })) : [];

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** An error with the code that the lookup of the operating system would give. */
const failure = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error('the name could not be looked up'), { code });
