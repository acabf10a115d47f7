import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/index.ts';
import { groupCommit, type GroupCommit } from '../../../db/group-commit.ts';
import { type Dataset, nameOf } from '../dataset.ts';
import { Busy } from '../errors.ts';
import type { QueueFigures } from '../../../http/service.ts';
import type { Settings } from '../settings.ts';
import { type Push, pushStore, type Verdict } from './push.store.ts';

export interface PushLine {
  /** Merges a push and tells what became of it. @throws Unavailable when too many pushes of the data set wait */
  merge(dataset: Dataset, push: Push): Promise<Verdict>;
  figures(): QueueFigures;
  close(): Promise<void>;
}

/** The most cells of one statement, unless a single push has more; many bytes count as many cells. */
const mostCells = 5_000;
const bytesPerCell = 1_600;
/** The most pushes of a data set that wait for a statement, and the bytes that all of them may have. */
const mostWaiting = 1_000;
const mostBytesWaiting = 64 * 1024 ** 2;

interface Item {
  readonly push: Push;
  verdict?: Verdict;
}

interface Line {
  readonly commits: GroupCommit<Item>;
  pushes: number;
  bytes: number;
}

const cellsOf = ({ push: { arrivals } }: Item): number =>
  Math.max(arrivals.cells.length, Math.ceil(arrivals.weight / bytesPerCell));

/** Merges pushes of a data set one after the other; those that arrive while one is merged share the next statement. */
export function createPushLine({ db, settings }: { db: Database; settings: Settings }): PushLine {
  const lines = new Map<string, Line>();
  const { maxDriftMs } = settings;
  let refused = 0;
  const overloaded = () => {
    refused += 1;
    return Busy();
  };

  function lineOf(dataset: Dataset): Line {
    const commits = groupCommit<Item>({
      async write(items) {
        const epoch = randomBytes(4).toString('hex');
        const pushes = items.map(({ push }) => push);
        const verdicts = await pushStore(db.sql).merge(dataset, pushes, { epoch, maxDriftMs });
        for (const [at, item] of items.entries()) item.verdict = verdicts[at]!;
      },
      maxBatch: mostWaiting,
      maxBacklog: mostWaiting,
      weight: { of: cellsOf, most: mostCells },
      overloaded,
    });
    return { commits, pushes: 0, bytes: 0 };
  }

  return {
    async merge(dataset, push) {
      const name = nameOf(dataset);
      const line = lines.get(name) ?? lineOf(dataset);
      const { weight } = push.arrivals;
      if (line.bytes > 0 && line.bytes + weight > mostBytesWaiting) throw overloaded();
      lines.set(name, line);
      line.pushes += 1;
      line.bytes += weight;
      const item: Item = { push };
      try {
        await line.commits.add(item);
        return item.verdict!;
      } finally {
        line.pushes -= 1;
        line.bytes -= weight;
        if (line.pushes === 0) lines.delete(name);
      }
    },
    figures() {
      const pushes = [...lines.values()].reduce((sum, line) => sum + line.pushes, 0);
      return { queue: 'sync.pushes', running: lines.size, waiting: pushes - lines.size, refused };
    },
    async close() {
      await Promise.all([...lines.values()].map(({ commits }) => commits.close()));
    },
  };
}
