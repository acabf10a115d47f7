import { TooManyTransfers } from '../errors.ts';

/** The contents that this process receives and sends now. */
export interface Transfers {
  /** Begins a transfer and returns its end, which may be called more than once. Throws `Unavailable` when too many are running. */
  begin(tenant: string): () => void;
  readonly active: () => number;
}

/** How many times as many places as are free a tenant may hold. */
const share = 4;

/**
 * Clients take as long as they like for a transfer, so a tenant that holds many times more places than are free gets no more: whatever
 * a few tenants hold, a place is left for the next one. Alone, a tenant may hold four of five places.
 */
export function createTransfers(most: number): Transfers {
  const held = new Map<string, number>();
  let active = 0;
  return {
    begin(tenant) {
      const own = held.get(tenant) ?? 0;
      const free = most - active;
      if (free <= 0 || own >= share * free) throw TooManyTransfers();
      held.set(tenant, own + 1);
      active += 1;
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        active -= 1;
        const left = held.get(tenant)! - 1;
        if (left === 0) held.delete(tenant);
        else held.set(tenant, left);
      };
    },
    active: () => active,
  };
}
