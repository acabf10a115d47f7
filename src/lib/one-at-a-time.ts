/** Work of which one run goes on at a time. */
export interface OneAtATime {
  /** Resolves when a run has ended that began after this call, or rejects with its error. Calls during a run share the next one. */
  readonly run: () => Promise<void>;
  /** Resolves when nothing runs or is about to run. */
  readonly settled: () => Promise<void>;
}

/** Lets one run of `work` go on at a time. A call during a run causes one more after it, because the run may have looked too early. */
export function oneAtATime(work: () => Promise<void>): OneAtATime {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    current = work().finally(() => (current = undefined));
    return current;
  }

  return {
    run() {
      if (next !== undefined) return next;
      if (current === undefined) return begin();
      next = current.catch(() => {}).then(begin);
      return next;
    },
    async settled() {
      while (current ?? next) await Promise.allSettled([current, next]);
    },
  };
}
