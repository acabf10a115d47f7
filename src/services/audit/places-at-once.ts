/** Places for work of which a process does little at once. */
export interface Places {
  /** Does the work in a free place. @throws what `full` makes when there is none */
  take<T>(work: () => Promise<T>): Promise<T>;
}

export function createPlaces(most: number, full: () => Error): Places {
  let taken = 0;
  return {
    async take(work) {
      if (taken >= most) throw full();
      taken += 1;
      try {
        return await work();
      } finally {
        taken -= 1;
      }
    },
  };
}
