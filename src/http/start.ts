import type { IncomingMessage } from 'node:http';
import { compileRanges } from '../lib/addresses.ts';

/** A link that only the person who develops on this machine gets. */
export interface DeveloperLink {
  readonly href: string;
  readonly text: string;
  /** What it is good for, in a sentence. */
  readonly description: string;
}

/** What the start page tells about the server, besides its services. */
export interface Start {
  readonly ready: boolean;
  /** Whether requests without credentials act as root. */
  readonly anonymous: boolean;
  /** The address that calls begin with. */
  readonly address: string;
  readonly links: readonly DeveloperLink[];
}

export interface StartDeps {
  readonly isReady: () => Promise<boolean>;
  readonly production: boolean;
  readonly anonymous: boolean;
  readonly address: string;
  /** The links of the services. */
  readonly links: readonly DeveloperLink[];
}

/** Returns what the start page tells to whoever sends the request. */
export const createStart =
  ({ isReady, production, anonymous, address, links }: StartDeps) =>
  async (req: IncomingMessage): Promise<Start> => ({
    ready: await isReady(),
    anonymous,
    address,
    links: !production && isOfDeveloper(req) ? links : [],
  });

/**
 * Whether a person opened the page in a browser on this machine. Other sites must not read the links: a page of theirs may not fetch
 * this one, and a name of theirs that leads here is not the name of this machine.
 */
export function isOfDeveloper({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  const host = headers.host === undefined ? undefined : URL.parse(`http://${headers.host}`)?.hostname;
  const mode = headers['sec-fetch-mode'] ?? 'navigate';
  return (
    isThisMachine(socket.remoteAddress ?? '') === true &&
    host !== undefined &&
    isLoopbackName(host) &&
    headers.origin === undefined &&
    headers['x-forwarded-for'] === undefined &&
    headers.forwarded === undefined &&
    mode === 'navigate'
  );
}

const isThisMachine = compileRanges(['127.0.0.0/8', '::1']);

const isLoopbackName = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
