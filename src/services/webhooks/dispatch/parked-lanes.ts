import type { Room } from './places.ts';

/**
 * Lanes for which there was no place. They wait here, so that a thousand of them are neither looked at again and again nor stand in the
 * way of others.
 */
export class ParkedLanes {
  /** The tenants in the order of their turns, each with its lanes in the order of theirs. */
  readonly #tenants = new Map<string, Set<string>>();
  readonly #ids = new Set<string>();

  has(endpointId: string): boolean {
    return this.#ids.has(endpointId);
  }

  park(endpointId: string, tenantId: string): void {
    const lanes = this.#tenants.get(tenantId) ?? new Set();
    this.#tenants.set(tenantId, lanes.add(endpointId));
    this.#ids.add(endpointId);
  }

  /** Whether there is a place for one of them. */
  isNext(room: Room): boolean {
    if (room.left === 0) return false;
    for (const tenantId of this.#tenants.keys()) if (room.leftOf(tenantId) > 0) return true;
    return false;
  }

  /** Takes as many as there are places for. A tenant that had its turn is the last one the next time. */
  take(room: Room): string[] {
    const taken: string[] = [];
    for (const [tenantId, lanes] of [...this.#tenants]) {
      const places = Math.min(room.leftOf(tenantId), room.left - taken.length);
      if (room.left === taken.length) break;
      if (places === 0) continue;
      const all = [...lanes];
      taken.push(...all.slice(0, places));
      this.#tenants.delete(tenantId);
      if (all.length > places) this.#tenants.set(tenantId, new Set(all.slice(places)));
    }
    for (const endpointId of taken) this.#ids.delete(endpointId);
    return taken;
  }
}
