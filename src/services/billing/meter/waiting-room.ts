import type { QueueLoad } from '../../../lib/bounded-queue.ts';
import type { NewUsage } from './new-usage.ts';

/** What waits to be stored. */
interface Load {
  readonly events: number;
  readonly bytes: number;
}

export interface WaitingRoom {
  /** Admits the events of a request, all or none. Returns what lets them go again, or undefined when there is no room. */
  enter(events: readonly Waiting[]): (() => void) | undefined;
  readonly load: () => Pick<QueueLoad, 'waiting' | 'refused'>;
}

type Waiting = Pick<NewUsage, 'tenant' | 'bytes'>;

/**
 * Bounds what waits in this process. One tenant has at most half of the room, so that a tenant that sends more than can be stored
 * leaves the others theirs.
 */
export function createWaitingRoom(most: Load): WaitingRoom {
  let all: Load = { events: 0, bytes: 0 };
  const ofTenant = new Map<string, Load>();
  let refused = 0;
  const half: Load = { events: most.events / 2, bytes: most.bytes / 2 };
  const held = (tenant: string) => ofTenant.get(tenant) ?? { events: 0, bytes: 0 };

  return {
    enter(events) {
      const request = loadOf(events);
      const shares = [...Map.groupBy(events, ({ tenant }) => tenant)].map(
        ([tenant, theirs]) => [tenant, loadOf(theirs)] as const,
      );
      const fits =
        isWithin(sum(all, request), most) &&
        shares.every(([tenant, share]) => isWithin(sum(held(tenant), share), half));
      if (!fits) {
        refused += 1;
        return undefined;
      }
      all = sum(all, request);
      for (const [tenant, share] of shares) ofTenant.set(tenant, sum(held(tenant), share));
      return () => {
        all = sum(all, request, -1);
        for (const [tenant, share] of shares) {
          const rest = sum(held(tenant), share, -1);
          if (rest.events === 0) ofTenant.delete(tenant);
          else ofTenant.set(tenant, rest);
        }
      };
    },
    load: () => ({ waiting: all.events, refused }),
  };
}

const loadOf = (events: readonly Waiting[]): Load => ({
  events: events.length,
  bytes: events.reduce((sum, { bytes }) => sum + bytes, 0),
});

const sum = (a: Load, b: Load, sign: 1 | -1 = 1): Load => ({
  events: a.events + sign * b.events,
  bytes: a.bytes + sign * b.bytes,
});

const isWithin = (load: Load, most: Load): boolean => load.events <= most.events && load.bytes <= most.bytes;
