/** An attempt that takes a place. */
export interface Holder {
  readonly tenantId: string;
  /** Whether nothing says that the receiver works now, so that the attempt may hang. */
  readonly isUnproven: boolean;
}

/** How many more attempts may begin at unproven receivers. */
export interface Room {
  /** At those of all tenants. */
  readonly unproven: number;
  /** At those of one tenant. */
  readonly unprovenOf: (tenantId: string) => number;
}

/** The part of the places that all unproven receivers share, so that those that work have the rest to themselves. */
const unprovenPart = 1 / 2;
/** The part that the unproven receivers of one tenant share: it may have made a thousand of them that hang. */
const tenantPart = 1 / 16;

/** The places of a process. Each attempt takes one until it has ended. */
export class Places implements Room {
  /** The most attempts at unproven receivers of one tenant. */
  readonly mostOfTenant: number;
  readonly #most: number;
  readonly #mostUnproven: number;
  readonly #tenants = new Map<string, number>();
  #taken = 0;
  #takenUnproven = 0;

  constructor(most: number) {
    this.#most = most;
    this.#mostUnproven = Math.ceil(most * unprovenPart);
    this.mostOfTenant = Math.ceil(most * tenantPart);
  }

  get left(): number {
    return Math.max(0, this.#most - this.#taken);
  }

  get unproven(): number {
    return Math.max(0, Math.min(this.left, this.#mostUnproven - this.#takenUnproven));
  }

  unprovenOf(tenantId: string): number {
    return Math.max(0, Math.min(this.unproven, this.mostOfTenant - (this.#tenants.get(tenantId) ?? 0)));
  }

  /** The places that unproven receivers have taken, by tenant. */
  get takenUnproven(): ReadonlyMap<string, number> {
    return this.#tenants;
  }

  take(holder: Holder): void {
    this.#add(holder, 1);
  }

  giveBack(holder: Holder): void {
    this.#add(holder, -1);
  }

  #add({ tenantId, isUnproven }: Holder, places: 1 | -1): void {
    this.#taken += places;
    if (!isUnproven) return;
    this.#takenUnproven += places;
    const taken = (this.#tenants.get(tenantId) ?? 0) + places;
    if (taken === 0) this.#tenants.delete(tenantId);
    else this.#tenants.set(tenantId, taken);
  }
}
