import { groupCommit, type GroupCommit } from '../../../db/group-commit.ts';

export interface TenantLanesOptions<Item> {
  /** Writes some of a tenant's items, at least one, and returns those that are left. */
  readonly write: (tenant: string, items: readonly Item[]) => Promise<readonly Item[]>;
  readonly weightOf: (item: Item) => number;
  /** Creates the error for the caller when too many items of a tenant wait. */
  readonly overloaded: () => Error;
}

export interface TenantLanes<Item> {
  /** Resolves when all of these items of a tenant are written, in their order. */
  add(tenant: string, items: readonly Item[]): Promise<void>;
}

/** The most items of a tenant that are taken up at once, and the most that wait. */
const mostItems = 100;
const mostWaiting = 1_000;
const mostBytes = 4 * 1024 * 1024;

/** Writes what takes long for tenants in turn: each write of one tenant is followed by one of each other tenant that waits. */
export function createTenantLanes<Item>({
  write,
  weightOf,
  overloaded,
}: TenantLanesOptions<Item>): TenantLanes<Item> {
  const lanes = new Map<string, { readonly group: GroupCommit<Item>; calls: number }>();
  let last: Promise<unknown> = Promise.resolve();

  /** Waits for the writes that were asked for before. A lane has one write at a time, so lanes take turns. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  const laneOf = (tenant: string) => {
    const group = groupCommit<Item>({
      async write(items) {
        for (let open: readonly Item[] = items; open.length > 0;) {
          const next = open;
          open = await inTurn(() => write(tenant, next));
        }
      },
      maxBatch: mostItems,
      maxBacklog: mostWaiting,
      weight: { of: weightOf, most: mostBytes },
      overloaded,
    });
    return { group, calls: 0 };
  };

  return {
    async add(tenant, items) {
      const lane = lanes.get(tenant) ?? laneOf(tenant);
      lanes.set(tenant, lane);
      lane.calls += 1;
      try {
        await lane.group.add(...items);
      } finally {
        lane.calls -= 1;
        if (lane.calls === 0) lanes.delete(tenant);
      }
    },
  };
}
