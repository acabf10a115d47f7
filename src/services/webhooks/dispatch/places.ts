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
  /** The places that count as its own: those that it has taken, or all when its data is large. */
  readonly places: number;
  /** The places of its unproven receivers. */
  readonly unproven: number;
}

/** What decides how many places a tenant may have. */
export interface Rules {
  /** So many places are a reserve. */
  readonly reserve: number;
  /** The most attempts of a tenant for each place that is left beyond the reserve. */
  readonly perFree: number;
  /** With no more than this part of what is left, a tenant may take places of the reserve too. */
  readonly partOfRest: number;
}

/**
 * The rules for so many places. A tenant alone has three quarters of them, and the more others take, the fewer it may have. When tenants
 * begin to hang one after the other, each takes but an eighth of what is left of the reserve, so those that work find places.
 */
const rulesOf = (most: number): Rules => ({
  reserve: Math.ceil((most * 3) / 16),
  perFree: 12,
  partOfRest: 1 / 8,
});

/** How many of `left` a tenant that has taken some may take by these rules. */
function shareOf(taken: number, left: number, { reserve, perFree, partOfRest }: Rules): number {
  const beyond = (perFree * (left - reserve) - taken) / (perFree + 1);
  const ofRest = partOfRest * left - (1 - partOfRest) * taken;
  return Math.max(0, Math.ceil(beyond), Math.ceil(ofRest));
}

/** The part of the places that all unproven receivers share, so that those that work have the rest to themselves. */
const unprovenPart = 1 / 2;
/** The part that the unproven receivers of one tenant share: it may have made a thousand of them that hang. */
const tenantPart = 1 / 16;

/** The most bytes of data in flight before nothing more begins, and the most of one delivery. */
const mostBytes = 64 * 1_024 * 1_024;
const mostOfDelivery = 256 * 1_024;
const rulesOfBytes = rulesOf(mostBytes);

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
  readonly rules: Rules;
  readonly #most: number;
  readonly #mostUnproven: number;
  readonly #tenants = new Map<string, Taken>();
  readonly #all: Taken = { places: 0, unproven: 0, bytes: 0 };

  constructor(most: number) {
    this.#most = most;
    this.rules = rulesOf(most);
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
    const { places } = this.#loadOf(this.#tenants.get(tenantId));
    return Math.min(this.left, shareOf(places, this.left, this.rules));
  }

  /** How many attempts may begin before the sizes of their data are known: so many that data of one tenant leaves room for others. */
  get atOnce(): number {
    const most = shareOf(0, this.#bytesLeft, rulesOfBytes) / mostOfDelivery;
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

  /** A tenant that has its share of the bytes counts as if it had all places. */
  #loadOf(taken: Taken | undefined): Load {
    if (taken === undefined) return { places: 0, unproven: 0 };
    const mayHaveMore = shareOf(taken.bytes, this.#bytesLeft, rulesOfBytes) > 0;
    return { places: mayHaveMore ? taken.places : this.rules.perFree * this.#most, unproven: taken.unproven };
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
