/** An attempt that takes a place. */
export interface Holder {
  readonly tenantId: string;
  /** Whether nothing says that the receiver works now, so that the attempt may hang. */
  readonly isUnproven: boolean;
  /** The bytes of its data. */
  readonly bytes: number;
}

/** How many more attempts may begin. */
export interface Room {
  /** At receivers of all tenants. */
  readonly left: number;
  /** At those of one tenant. */
  readonly leftOf: (tenantId: string) => number;
}

/** What a tenant has in flight. */
export interface Load {
  /** The places that count as its own: those that it has taken, or more when its data is large. */
  readonly places: number;
  /** The places of its unproven receivers. */
  readonly unproven: number;
}

/**
 * The most attempts of a tenant for each place that is left. A tenant alone has three quarters of the places, and however many it may
 * take at once when all its receivers begin to hang, it leaves some: the more others take, the fewer it may have.
 */
export const perFree = 3;

/** The part of the places that all unproven receivers share, so that those that work have the rest to themselves. */
const unprovenPart = 1 / 2;
/** The part that the unproven receivers of one tenant share: it may have made a thousand of them that hang. */
const tenantPart = 1 / 16;

/** The most bytes of data in flight before nothing more begins, and the most of one delivery. */
const mostBytes = 64 * 1_024 * 1_024;
const mostOfDelivery = 256 * 1_024;

interface Taken {
  places: number;
  unproven: number;
  bytes: number;
}

/** The places of a process. Each attempt takes one until it has ended. */
export class Places implements Room {
  /** The most attempts at unproven receivers of one tenant. */
  readonly mostUnprovenOfTenant: number;
  /** What unproven receivers may have. */
  readonly unproven: Room;
  readonly #most: number;
  readonly #mostUnproven: number;
  readonly #tenants = new Map<string, Taken>();
  readonly #all: Taken = { places: 0, unproven: 0, bytes: 0 };

  constructor(most: number) {
    this.#most = most;
    this.#mostUnproven = Math.ceil(most * unprovenPart);
    this.mostUnprovenOfTenant = Math.ceil(most * tenantPart);
    const left = () => Math.max(0, Math.min(this.left, this.#mostUnproven - this.#all.unproven));
    this.unproven = {
      get left() {
        return left();
      },
      leftOf: (tenantId) => {
        const taken = this.#tenants.get(tenantId)?.unproven ?? 0;
        return Math.max(0, Math.min(left(), this.leftOf(tenantId), this.mostUnprovenOfTenant - taken));
      },
    };
  }

  get left(): number {
    return this.#bytesLeft > 0 ? Math.max(0, this.#most - this.#all.places) : 0;
  }

  leftOf(tenantId: string): number {
    const { left } = this;
    const { places } = this.#loadOf(this.#tenants.get(tenantId));
    // The most n with places + n - 1 < perFree * (left - (n - 1)).
    const most = Math.ceil((perFree * left + perFree + 1 - places) / (perFree + 1)) - 1;
    return Math.max(0, Math.min(left, most));
  }

  /** How many attempts may begin before the sizes of their data are known: so many that data of one tenant leaves room for others. */
  get atOnce(): number {
    const most = (this.#bytesLeft * perFree) / (perFree + 1) / mostOfDelivery;
    return Math.min(this.left, Math.max(1, Math.floor(most)));
  }

  /** What each tenant has in flight. */
  loads(): Map<string, Load> {
    return new Map([...this.#tenants].map(([tenantId, taken]) => [tenantId, this.#loadOf(taken)]));
  }

  take(holder: Holder): void {
    this.#add(holder, 1);
  }

  giveBack(holder: Holder): void {
    this.#add(holder, -1);
  }

  get #bytesLeft(): number {
    return Math.max(0, mostBytes - this.#all.bytes);
  }

  /** A tenant with a part of the bytes has as large a part of the places, or it could fill the one without the other. */
  #loadOf(taken: Taken | undefined): Load {
    if (taken === undefined) return { places: 0, unproven: 0 };
    const { left } = this;
    const ofBytes = left === 0 ? 0 : Math.ceil((taken.bytes / this.#bytesLeft) * left);
    return { places: Math.max(taken.places, ofBytes), unproven: taken.unproven };
  }

  #add({ tenantId, isUnproven, bytes }: Holder, places: 1 | -1): void {
    const taken = this.#tenants.get(tenantId) ?? { places: 0, unproven: 0, bytes: 0 };
    for (const one of [taken, this.#all]) {
      one.places += places;
      one.bytes += places * bytes;
      if (isUnproven) one.unproven += places;
    }
    if (taken.places === 0) this.#tenants.delete(tenantId);
    else this.#tenants.set(tenantId, taken);
  }
}
