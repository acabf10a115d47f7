import type { Sql } from '../../db/index.ts';
import { judgeCycles } from './engine/type-cycles.ts';
import { parseNewType, parseType } from './engine/type-graph.ts';
import type { TypeNames } from './engine/type-graph.ts';
import type { ResourceTypeRule } from './engine/types.ts';
import { resourceTypeStore, type TypeVersion } from './resource-types.store.ts';
import { inSlices, Slices, type Turns } from './turns.ts';

/** Types read per statement. One type can take up to a megabyte. */
const typesPerStatement = 2;
/** Maximum bytes of types, as written, whose parsed forms are kept. */
const mostBytesKept = 33_554_432;

/** The versions of the other types that a type was checked against. */
export type Judged = string;

/** Parsed types by id and revision, so that writing one type does not parse all the others. */
export class TypeVersions {
  readonly #turns: Turns;
  /** In order of use, with the most recently used last. */
  readonly #parsed = new Map<string, { readonly names: TypeNames; readonly bytes: number }>();
  #bytes = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /**
   * Checks a type by itself and together with the tenant's other types. The check runs in slices and may take a while, so the
   * transaction that stores the type only compares versions with the result.
   * @throws Invalid
   */
  async judge(sql: Sql, tenant: string, type: Omit<ResourceTypeRule, 'id'>): Promise<Judged> {
    const slices = new Slices(this.#turns, tenant);
    const names = parseNewType(type);
    const versions = (await resourceTypeStore(sql).versions(tenant)).filter(({ name }) => name !== type.name);
    const others = await this.#namesOf(sql, tenant, versions, slices);
    await inSlices(slices, judgeCycles(type.name, names, others));
    return judged(versions);
  }

  async #namesOf(
    sql: Sql,
    tenant: string,
    versions: readonly TypeVersion[],
    slices: Slices,
  ): Promise<Map<string, TypeNames>> {
    const found = new Map<string, TypeNames>();
    const missing: TypeVersion[] = [];
    for (const version of versions) {
      const kept = this.#parsed.get(keyOf(version));
      if (kept === undefined) missing.push(version);
      else found.set(version.name, kept.names);
    }
    for (let at = 0; at < missing.length; at += typesPerStatement) {
      const ids = missing.slice(at, at + typesPerStatement).map(({ id }) => id);
      for (const type of await resourceTypeStore(sql).some(tenant, ids)) {
        await slices.pause();
        const names = parseType(type);
        found.set(type.name, names);
        const version = missing.find(({ id }) => id === type.id)!;
        this.#keep(keyOf({ ...version, revision: type.revision }), { names, bytes: version.bytes });
      }
    }
    slices.end();
    return found;
  }

  #keep(key: string, parsed: { names: TypeNames; bytes: number }): void {
    this.#parsed.set(key, parsed);
    this.#bytes += parsed.bytes;
    for (const [oldest, { bytes }] of this.#parsed) {
      if (this.#bytes <= mostBytesKept) break;
      this.#parsed.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

/** Returns the versions that a check was based on, to compare with the tenant's versions at the end. */
export const judged = (others: readonly TypeVersion[]): Judged =>
  others
    .map(keyOf)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(' ');

const keyOf = ({ id, revision }: Pick<TypeVersion, 'id' | 'revision'>) => `${id}@${revision}`;
