import { withinTenant } from '../../../http/asker.ts';
import { covers } from '../../../http/caller.ts';
import type { PortsOf } from '../../../http/port.ts';
import { DomainError } from '../../../lib/errors.ts';

/** The service that knows whether the keys by which links were made may still do what the links do. */
export const asks = { keys: 'optional' } as const;

/** Who had a link made, and what using it takes. */
export interface LinkSubject {
  readonly tenant: string;
  readonly app: string;
  readonly subject: string | undefined;
  readonly scope: string;
  readonly requestId: string;
}

/**
 * Whether whoever had a link made may still do what it does. An API key must still work and have the right, so that no link outlives it;
 * links of users and of root last until they expire.
 */
export type SubjectJudge = (subject: LinkSubject) => Promise<boolean>;

const prefix = 'key:';

export const subjectJudge =
  ({ keys }: PortsOf<typeof asks>): SubjectJudge =>
  async ({ subject, scope, ...place }) => {
    if (!subject?.startsWith(prefix)) return true;
    try {
      const key = await keys?.keys.get({ keyId: subject.slice(prefix.length) }, withinTenant(place));
      return key?.state === 'active' && covers(key.scopes ?? [], scope);
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'notFound') return false;
      throw error;
    }
  };
