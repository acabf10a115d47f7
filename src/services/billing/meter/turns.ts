export interface Turns {
  /** Does work of a tenant once the tenant has a turn: at once while its work under way weighs little enough, else after that. */
  take<Result>(tenant: string, weight: number, work: () => Promise<Result>): Promise<Result>;
  /** Resolves when no work is under way or waits. */
  idle(): Promise<void>;
}

interface Line {
  /** What the work under way weighs. */
  busy: number;
  readonly waiting: { readonly weight: number; readonly go: () => void }[];
}

/**
 * Lets a tenant have only so much work under way. In a queue that serves in the order of arrival, a tenant that sends more than can be
 * stored then keeps the others waiting for its work of one turn, and not for all that it has sent.
 * @param most what a tenant's work under way may weigh, unless it is one piece alone
 */
export function createTurns(most: number): Turns {
  const lines = new Map<string, Line>();
  const idlers: (() => void)[] = [];
  const fits = ({ busy }: Line, weight: number) => busy === 0 || busy + weight <= most;

  function enter(line: Line, weight: number): Promise<void> | undefined {
    if (line.waiting.length > 0 || !fits(line, weight))
      return new Promise((go) => void line.waiting.push({ weight, go }));
    line.busy += weight;
    return undefined;
  }

  function leave(tenant: string, line: Line, weight: number): void {
    line.busy -= weight;
    while (line.waiting[0] !== undefined && fits(line, line.waiting[0].weight)) {
      const next = line.waiting.shift()!;
      line.busy += next.weight;
      next.go();
    }
    if (line.busy > 0) return;
    lines.delete(tenant);
    if (lines.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    async take(tenant, weight, work) {
      const line = lines.get(tenant) ?? { busy: 0, waiting: [] };
      lines.set(tenant, line);
      const turn = enter(line, weight);
      if (turn !== undefined) await turn;
      try {
        return await work();
      } finally {
        leave(tenant, line, weight);
      }
    },
    idle: () => (lines.size === 0 ? Promise.resolve() : new Promise((resolve) => void idlers.push(resolve))),
  };
}
