import { TooLarge } from '../../lib/errors.ts';
import type { Content } from './contents.ts';

/** A record, and the collections below other records that it was put into. */
export interface StoredRecord {
  /** Grows with each added record. */
  readonly seq: number;
  values: Record<string, unknown>;
  readonly places: Set<string>;
  /** The uploaded bytes. */
  content?: Content | undefined;
}

export type NewRecord = Pick<StoredRecord, 'values' | 'places' | 'content'>;

export interface MemoryLimits {
  /** Maximum number of records in total. */
  readonly all: number;
  /** Maximum number of records per tenant. */
  readonly tenant: number;
  /** Maximum bytes of one content. */
  readonly content: number;
  /** Maximum bytes of all contents of one tenant. */
  readonly contents: number;
}

/** This many bytes of content count as much as one record. */
const unit = 4 * 1024;

const weightOf = ({ content }: NewRecord) => 1 + Math.ceil((content?.bytes.length ?? 0) / unit);

/** The records of one tenant: shelves of records by name. */
interface Tenant {
  /** The client that wrote to the tenant first. */
  readonly client: string;
  readonly shelves: Map<string, Set<StoredRecord>>;
  /** Every record with its shelf, oldest first. */
  readonly all: Map<StoredRecord, string>;
  /** Bytes of its contents. */
  bytes: number;
  /** The weight of its records and their contents. The tenant itself counts as one. */
  weight: number;
}

/** The tenant whose records are meant, and the client that asks. */
export interface Caller {
  readonly tenant: string;
  readonly client: string;
}

/**
 * The records that the mock remembers, with limits so that no client displaces the records of others. A tenant with too many
 * records loses its own oldest ones, and content beyond its limit is rejected. When the total is too large, the client with the
 * most records loses its least recently used tenant.
 */
export class Memory {
  readonly #limits: MemoryLimits;
  /** In order of use, with the most recently used last. */
  readonly #tenants = new Map<string, Tenant>();
  readonly #counts = new Map<string, number>();
  #size = 0;
  #seq = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Maximum bytes of a content. */
  get largest(): number {
    return this.#limits.content;
  }

  /** Number of records, including the weight of their contents. */
  get size(): number {
    return this.#size;
  }

  /**
   * Returns the records of a shelf, newest first. A new shelf begins with `first`. It is stored only when something is written
   * to it, so that reading costs no memory.
   */
  records(
    { tenant, client }: Caller,
    shelf: string,
    first: () => Iterable<NewRecord>,
    writes: boolean,
  ): StoredRecord[] {
    const found = this.#used(tenant);
    const kept = found?.shelves.get(shelf);
    if (kept) return [...kept].reverse();
    if (!writes) return seeded(first).reverse();
    const owner = found ?? this.#begun(tenant, client);
    const records = seeded(first);
    owner.shelves.set(shelf, new Set());
    for (const record of records) this.#put(owner, shelf, record);
    this.#bound(owner);
    return records.reverse();
  }

  /** Adds a record. @throws TooLarge when the tenant may not have so much content */
  add({ tenant, client }: Caller, shelf: string, added: NewRecord): StoredRecord {
    this.#seq += 1;
    const record = { seq: this.#seq, ...added };
    const owner = this.#used(tenant) ?? this.#begun(tenant, client);
    this.#checkRoom(owner, added.content, undefined);
    this.#put(owner, shelf, record);
    const [oldest] = owner.all.keys();
    if (owner.all.size > this.#limits.tenant && oldest) this.#take(owner, oldest);
    this.#bound(owner);
    return record;
  }

  /** Replaces the content of a record. @throws TooLarge when the tenant may not have so much content */
  fill(tenant: string, record: StoredRecord, content: Content): void {
    const owner = this.#tenants.get(tenant);
    const shelf = owner?.all.get(record);
    if (!owner || shelf === undefined) return;
    this.#checkRoom(owner, content, record.content);
    this.#weigh(owner, record, -1);
    record.content = content;
    this.#weigh(owner, record, 1);
    this.#bound(owner);
  }

  remove(tenant: string, record: StoredRecord): void {
    const owner = this.#tenants.get(tenant);
    if (owner) this.#take(owner, record);
  }

  #used(name: string): Tenant | undefined {
    const tenant = this.#tenants.get(name);
    if (!tenant) return undefined;
    this.#tenants.delete(name);
    this.#tenants.set(name, tenant);
    return tenant;
  }

  /** Creates a tenant. It counts as a record, so that the number of empty tenants is limited too. */
  #begun(name: string, client: string): Tenant {
    const tenant = {
      client,
      shelves: new Map<string, Set<StoredRecord>>(),
      all: new Map<StoredRecord, string>(),
      bytes: 0,
      weight: 1,
    };
    this.#tenants.set(name, tenant);
    this.#count(client, 1);
    return tenant;
  }

  #put(tenant: Tenant, shelf: string, record: StoredRecord): void {
    tenant.shelves.set(shelf, (tenant.shelves.get(shelf) ?? new Set()).add(record));
    tenant.all.set(record, shelf);
    this.#weigh(tenant, record, 1);
  }

  #take(tenant: Tenant, record: StoredRecord): void {
    const shelf = tenant.all.get(record);
    if (shelf === undefined) return;
    tenant.shelves.get(shelf)?.delete(record);
    tenant.all.delete(record);
    this.#weigh(tenant, record, -1);
  }

  #checkRoom({ bytes }: Tenant, content: Content | undefined, former: Content | undefined): void {
    const wanted = bytes + (content?.bytes.length ?? 0) - (former?.bytes.length ?? 0);
    if (content && wanted > this.#limits.contents)
      throw TooLarge(`body: the mock keeps at most ${this.#limits.contents} bytes of a tenant`);
  }

  #weigh(tenant: Tenant, record: StoredRecord, sign: 1 | -1): void {
    tenant.bytes += sign * (record.content?.bytes.length ?? 0);
    tenant.weight += sign * weightOf(record);
    this.#count(tenant.client, sign * weightOf(record));
  }

  #bound(current: Tenant): void {
    while (this.#size > this.#limits.all && this.#forget(current));
  }

  /** Forgets the least recently used tenant of the largest client, except the current one. Returns false when there is none. */
  #forget(current: Tenant): boolean {
    const [greatest] = [...this.#counts].reduce((one, other) => (other[1] > one[1] ? other : one));
    const others = [...this.#tenants].filter(([, tenant]) => tenant !== current);
    const victim = others.find(([, { client }]) => client === greatest) ?? others[0];
    if (!victim) return false;
    const [name, tenant] = victim;
    this.#tenants.delete(name);
    this.#count(tenant.client, -tenant.weight);
    return true;
  }

  #count(client: string, more: number): void {
    this.#size += more;
    const count = (this.#counts.get(client) ?? 0) + more;
    if (count > 0) this.#counts.set(client, count);
    else this.#counts.delete(client);
  }
}

/** Returns the initial records of a shelf, which are older than any added record. */
function seeded(first: () => Iterable<NewRecord>): StoredRecord[] {
  const seeds = [...first()];
  return seeds.map(({ values, places }, index) => ({ seq: index - seeds.length, values, places }));
}
