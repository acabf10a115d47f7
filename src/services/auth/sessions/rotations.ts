import { groupCommit } from '../../../db/group-commit.ts';
import { RateLimited } from '../../../lib/errors.ts';
import { refreshStore, type Rotated, type Rotation } from './refresh.store.ts';
import { longestSessionMs } from './session-start.ts';
import type { Writer } from '../directory/writes.ts';

/** Replaces the tokens of a session of the app. Returns undefined if another refresh was faster. @throws RateLimited if too many wait */
export type Rotate = (app: string, rotation: Rotation) => Promise<Rotated | undefined>;

interface Waiting {
  readonly app: string;
  readonly rotation: Rotation;
  /** The result of the shared commit. */
  rotated?: Promise<Rotated | undefined>;
}

/** Concurrent refreshes of one app share a commit. One whose session is locked waits for it separately. */
export function createRotate(write: Writer): Rotate {
  const together = groupCommit<Waiting>({
    maxBatch: 100,
    maxBacklog: 10_000,
    overloaded: () => RateLimited('too many requests', { retryAfter: 1 }),
    async write(items) {
      for (const some of Map.groupBy(items, ({ app }) => app).values()) rotateTogether(some);
      // A failure for one app is reported only to callers who wait for that app.
      await Promise.allSettled(items.flatMap(({ rotated = [] }) => rotated));
    },
  });

  function rotateTogether(items: readonly Waiting[]): void {
    const rotations = items.map(({ rotation }) => rotation);
    const found = commit(items[0]!.app, rotations, false).then(
      (all) => new Map(all.map((one) => [one.hash, one])),
    );
    for (const item of items)
      item.rotated = found.then((all) => all.get(item.rotation.tokenHash.toString('hex')));
  }

  const commit = (app: string, rotations: readonly Rotation[], waiting: boolean) =>
    write({ tenant: rotations[0]!.tenant, app, actor: 'anonymous' }, async ({ sql, changed }) => {
      const rotated = await refreshStore(sql).rotate(rotations, longestSessionMs, waiting);
      // The old session tokens are invalid, even in the caches of other processes.
      for (const { id } of rotated) changed('session', id);
      return rotated;
    });

  return async (app, rotation) => {
    const item: Waiting = { app, rotation };
    await together.add(item);
    return (await item.rotated) ?? (await commit(app, [rotation], true))[0];
  };
}
