import { QueueFull } from '../errors.ts';

/**
 * The places of the scans that a process works on. One tenant may have at most half of them, so that there is room for others; a scan
 * that finds none is refused before anything is read.
 */
export class Places {
  readonly #most: number;
  readonly #mostEach: number;
  readonly #taken = new Map<string, number>();
  #total = 0;
  #refused = 0;

  constructor(most: number) {
    this.#most = most;
    this.#mostEach = Math.ceil(most / 2);
  }

  /** How many are taken, and how many scans found none. */
  get figures(): { running: number; refused: number } {
    return { running: this.#total, refused: this.#refused };
  }

  /** Works while it has a place. @throws QueueFull */
  async within<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const own = this.#taken.get(tenant) ?? 0;
    if (this.#total >= this.#most || own >= this.#mostEach) {
      this.#refused++;
      throw QueueFull();
    }
    this.#taken.set(tenant, own + 1);
    this.#total++;
    try {
      return await work();
    } finally {
      this.#total--;
      const left = this.#taken.get(tenant)! - 1;
      if (left === 0) this.#taken.delete(tenant);
      else this.#taken.set(tenant, left);
    }
  }
}
