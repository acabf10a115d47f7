import type { Sealer } from '../../lib/seal.ts';

/** An endpoint, to which each sealed value of it is bound. */
export interface SealedFor {
  readonly tenant_id: string;
  readonly id: string;
}

/** Seals what an endpoint keeps secret. A value opens only for the same tenant, endpoint and purpose. */
export interface Sealing {
  sealSecret(endpoint: SealedFor, secret: string): Buffer;
  /** @throws Unreadable when it was sealed with another master key */
  openSecret(endpoint: SealedFor, box: Uint8Array): string;
  sealHeaders(endpoint: SealedFor, headers: Readonly<Record<string, string>>): Buffer;
  /** @throws Unreadable when they were sealed with another master key */
  openHeaders(endpoint: SealedFor, box: Uint8Array): Record<string, string>;
  /** The bytes 1 to 4 of what the previous master key sealed; undefined when there is none. */
  readonly previousId: Buffer | undefined;
}

/** A sealed value that the master keys of this server do not open. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export function createSealing(sealer: Sealer): Sealing {
  // The sealer derives a key for each purpose and tenant; the endpoint in front of the value binds it without a key of its own.
  const seal = (purpose: Purpose, { tenant_id, id }: SealedFor, text: string) =>
    sealer.seal(purpose, tenant_id, `${id}\n${text}`);

  const open = (purpose: Purpose, { tenant_id, id }: SealedFor, box: Uint8Array) => {
    const text = opened(() => sealer.open(purpose, tenant_id, box)).toString('utf8');
    if (!text.startsWith(`${id}\n`)) throw new Unreadable('sealed for another endpoint');
    return text.slice(id.length + 1);
  };

  return {
    sealSecret: (endpoint, secret) => seal('webhooks.secret', endpoint, secret),
    openSecret: (endpoint, box) => open('webhooks.secret', endpoint, box),
    sealHeaders: (endpoint, headers) => seal('webhooks.headers', endpoint, JSON.stringify(headers)),
    openHeaders: (endpoint, box) =>
      JSON.parse(open('webhooks.headers', endpoint, box)) as Record<string, string>,
    previousId: sealer.previousId,
  };
}

type Purpose = 'webhooks.secret' | 'webhooks.headers';

function opened(open: () => Buffer): Buffer {
  try {
    return open();
  } catch (error) {
    throw new Unreadable('sealed with another master key', { cause: error });
  }
}
