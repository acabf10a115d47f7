/** Places for work of which a process does little at once. */
export interface Places {
  /** Does the work of a tenant in a free place. @throws what `full` makes when there is none, or when the others are for other tenants */
  take<T>(tenant: string, work: () => Promise<T>): Promise<T>;
}

/** One tenant gets all places but one, because long work that is repeated at once would leave none to the others. */
export function createPlaces(most: number, full: () => Error): Places {
  const taken: string[] = [];
  return {
    async take(tenant, work) {
      const own = taken.filter((name) => name === tenant).length;
      if (taken.length >= most || own >= most - 1) throw full();
      taken.push(tenant);
      try {
        return await work();
      } finally {
        taken.splice(taken.indexOf(tenant), 1);
      }
    },
  };
}
