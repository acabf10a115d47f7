/** A lane, and where the look at its order keys goes on. */
export interface Turn {
  readonly endpointId: string;
  readonly after: string;
}

/** Milliseconds until another try at a lane that was locked, and how many there are, each after twice the time. */
const lockedMs = 4;
const mostMisses = 6;

/** The lanes to look at, in the order of their turns. Moments are milliseconds of the monotonic clock. */
export class LaneQueue {
  readonly #ready = new Set<string>();
  readonly #later = new Map<string, number>();
  /** How often in succession another process had the lane locked. */
  readonly #misses = new Map<string, number>();
  readonly #after = new Map<string, string>();

  /** Asks for a look, at the earlier of two moments. */
  add(endpointId: string, at: number, now: number): void {
    if (this.#ready.has(endpointId)) return;
    const known = this.#later.get(endpointId);
    if (at <= now) {
      this.#later.delete(endpointId);
      this.#ready.add(endpointId);
    } else if (known === undefined || at < known) this.#later.set(endpointId, at);
  }

  /** Takes up to `most` lanes whose time has come. */
  take(most: number, now: number): Turn[] {
    for (const [endpointId, at] of this.#later) this.add(endpointId, at, now);
    const taken: Turn[] = [];
    for (const endpointId of this.#ready) {
      if (taken.length >= most) break;
      this.#ready.delete(endpointId);
      taken.push({ endpointId, after: this.#after.get(endpointId) ?? '' });
    }
    return taken;
  }

  /** Notes a look, and where the next one goes on. */
  looked({ endpointId, after }: Turn): void {
    this.#misses.delete(endpointId);
    if (after === '') this.#after.delete(endpointId);
    else this.#after.set(endpointId, after);
  }

  /** Notes that a lane could not be looked at, and asks for another try soon. After a few, the lane waits for the next poll. */
  missed(endpointId: string, now: number): void {
    const misses = this.#misses.get(endpointId) ?? 0;
    if (misses >= mostMisses) this.#misses.delete(endpointId);
    else {
      this.#misses.set(endpointId, misses + 1);
      this.add(endpointId, now + lockedMs * 2 ** misses, now);
    }
  }

  /** The moment of the next look; undefined when none is asked for. */
  next(): number | undefined {
    if (this.#ready.size > 0) return -Infinity;
    return [...this.#later.values()].reduce<number | undefined>(earlier, undefined);
  }
}

const earlier = (one: number | undefined, other: number): number =>
  one === undefined ? other : Math.min(one, other);
