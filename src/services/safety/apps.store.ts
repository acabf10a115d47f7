import type { Sql } from '../../db/index.ts';
import { mostContents, mostOf, type RuleKind, type Weight } from './limits.ts';

export type Counted = RuleKind | keyof Weight;

/** How much a write adds to what is limited; negative for what it removes. */
export type Added = Partial<Record<Counted, number>>;

const limits: Readonly<Record<Counted, number>> = { ...mostOf, ...mostContents };

/** Every statement about an app's revision and what it may have a limited number of. */
export const appStore = (sql: Sql) => ({
  /** Takes the app's row lock, which serialises its writes, and the next revision. */
  async raise(app: string): Promise<number> {
    const [row] = await sql<[{ revision: number }]>`
      insert into safety.app as a (app_id, revision) values (${app}, 1)
      on conflict (app_id) do update set revision = a.revision + 1
      returning revision`;
    return row.revision;
  },

  /**
   * Adds to the counts, or to none of them when one would pass its limit: what only shrinks or stays always fits. Returns the counts
   * that would have passed.
   */
  async reserve(app: string, added: Added): Promise<Counted[]> {
    const entries = Object.entries(added).filter(([, by]) => by !== 0) as [Counted, number][];
    if (entries.length === 0) return [];
    const sets = entries.map(([name, by]) => sql`${sql(name)} = ${sql(name)} + ${by}`);
    const fits = entries.filter(([, by]) => by > 0);
    const { count } = await sql`
      update safety.app set ${sets.reduce((before, set) => sql`${before}, ${set}`)}
      where ${fits.reduce((before, [name, by]) => sql`${before} and ${sql(name)} + ${by} <= ${limits[name]}`, sql`app_id = ${app}`)}`;
    if (count > 0) return [];
    const [row] = await sql<[Record<Counted, number>]>`
      select ${sql(fits.map(([name]) => name))} from safety.app where app_id = ${app}`;
    return fits.filter(([name, by]) => row[name] + by > limits[name]).map(([name]) => name);
  },
});
