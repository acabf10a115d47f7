import type { Database } from '../../../db/index.ts';
import { groupCommit, type GroupCommit } from '../../../db/group-commit.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import type { DefaultQuota } from '../usage.ts';
import { type Committed, objectStore, type Put, type PutOutcome } from './objects.store.ts';

export interface PutLine {
  /** Commits a put and returns also which blob has its bytes. Throws what it is refused for. */
  commit(
    tenant: string,
    bucketId: string,
    put: Put,
  ): Promise<Committed & { readonly blob_id: string | null }>;
}

export interface PutLineDeps {
  readonly db: Database;
  readonly quota: DefaultQuota;
}

/** The most puts of one commit: PostgreSQL keeps track of about so many steps that can be undone by themselves. */
const mostTogether = 50;
/** More puts than this never wait: there are fewer transfers. */
const mostWaiting = 100_000;

interface Item {
  readonly put: Put;
  outcome?: PutOutcome;
}

interface Place {
  readonly tenant: string;
  readonly bucketId: string;
}

interface Line {
  readonly commits: GroupCommit<Item>;
  waiting: number;
}

/**
 * Commits the puts of a bucket one after the other; those that arrive during a commit share the next one. Each put of a bucket has to wait
 * for the row that counts its usage until the one before is durable, so alone they could not be faster than the disk.
 */
export function createPutLine({ db, quota }: PutLineDeps): PutLine {
  const lines = new Map<string, Line>();

  const together = (of: Place, items: readonly Item[]): Promise<PutOutcome[]> =>
    db.transaction((sql) => {
      const puts = items.map(({ put }) => put);
      return objectStore(sql).putAll(of.tenant, of.bucketId, puts, quota);
    });

  async function alone(of: Place, item: Item): Promise<PutOutcome> {
    try {
      const [outcome] = await together(of, [item]);
      return outcome!;
    } catch (error) {
      return { refusal: error as Error };
    }
  }

  async function write(of: Place, items: readonly Item[]): Promise<void> {
    const outcomes = await together(of, items).catch((error: unknown) => {
      if (items.length > 1 && isRefusal(error)) return undefined;
      throw error;
    });
    // There is no room for all of them, but there may be for some.
    for (const [at, item] of items.entries()) item.outcome = outcomes?.[at] ?? (await alone(of, item));
  }

  const lineOf = (of: Place): Line => ({
    commits: groupCommit<Item>({
      write: (items) => write(of, items),
      maxBatch: mostTogether,
      maxBacklog: mostWaiting,
      overloaded: () => Unavailable('too many objects are being stored'),
    }),
    waiting: 0,
  });

  return {
    async commit(tenant, bucketId, put) {
      const line = lines.get(bucketId) ?? lineOf({ tenant, bucketId });
      lines.set(bucketId, line);
      line.waiting += 1;
      const item: Item = { put };
      try {
        await line.commits.add(item);
      } finally {
        line.waiting -= 1;
        if (line.waiting === 0) lines.delete(bucketId);
      }
      const outcome = item.outcome!;
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.committed;
    },
  };
}

/** The quotas refuse all puts together. */
const isRefusal = (error: unknown): boolean => error instanceof DomainError && error.kind === 'tooLarge';
