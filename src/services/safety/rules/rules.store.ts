import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import type { RuleKind, Weight } from '../limits.ts';

/** A rule as it is stored; `body` holds what is of its kind, with ids in place of the names of other rules. */
export interface RuleRow extends Weight {
  readonly app_id: string;
  readonly kind: RuleKind;
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly facets: readonly string[];
  readonly refs: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly revision: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export type NewRule = Omit<RuleRow, 'created_at' | 'updated_at'>;

export interface RuleFilter {
  readonly enabled: boolean | undefined;
  readonly facet: string | undefined;
  /** Only policies that are in force in this tenant. */
  readonly inForceIn?: string | undefined;
}

/** A rule that refers to another one, or to which others refer. */
export interface NamedRule {
  readonly id: string;
  readonly kind: RuleKind;
  readonly name: string;
}

/** Every statement about primitives, profiles and policies. */
export const ruleStore = (sql: Sql) => ({
  /** Returns false when the name is taken. */
  async insert(rule: NewRule): Promise<boolean> {
    const { count } = await sql`
      insert into safety.rule
        (app_id, kind, id, name, enabled, facets, refs, body, keywords, expressions, instructions, revision)
      values (${rule.app_id}, ${rule.kind}, ${rule.id}, ${rule.name}, ${rule.enabled}, ${[...rule.facets]}::text[],
        ${[...rule.refs]}::text[], ${JSON.stringify(rule.body)}::text::json, ${rule.keywords}, ${rule.expressions},
        ${rule.instructions}, ${rule.revision})
      on conflict on constraint rule_name_key do nothing`;
    return count > 0;
  },

  /** Whether another rule of the kind has the name. */
  async isTaken(app: string, kind: RuleKind, name: string, id: string): Promise<boolean> {
    const found = await sql`
      select from safety.rule where app_id = ${app} and kind = ${kind} and name = ${name} and id <> ${id}`;
    return found.length > 0;
  },

  async replace(rule: NewRule): Promise<void> {
    await sql`
      update safety.rule
      set name = ${rule.name}, enabled = ${rule.enabled}, facets = ${[...rule.facets]}::text[],
        refs = ${[...rule.refs]}::text[], body = ${JSON.stringify(rule.body)}::text::json, keywords = ${rule.keywords},
        expressions = ${rule.expressions}, instructions = ${rule.instructions}, revision = ${rule.revision},
        updated_at = now()
      where app_id = ${rule.app_id} and id = ${rule.id}`;
  },

  async delete(app: string, id: string): Promise<void> {
    await sql`delete from safety.rule where app_id = ${app} and id = ${id}`;
  },

  async find(app: string, kind: RuleKind, id: string): Promise<RuleRow | undefined> {
    const [rule] = await sql<RuleRow[]>`
      select ${columns(sql)} from safety.rule where app_id = ${app} and kind = ${kind} and id = ${id}`;
    return rule;
  },

  /** Lists rules newest first, one more than `limit` when more follow, and where the next page goes on if this one is cut. */
  async list(
    app: string,
    kind: RuleKind,
    filter: RuleFilter,
    window: Window,
  ): Promise<{ rows: RuleRow[]; cut: RuleRow | undefined }> {
    const { enabled, facet, inForceIn } = filter;
    const page = sql`
      select ${columns(sql)} from safety.rule
      where app_id = ${app} and kind = ${kind}
        ${enabled === undefined ? sql`` : sql`and enabled = ${enabled}`}
        ${facet === undefined ? sql`` : sql`and facets @> ${[facet]}::text[]`}
        ${
          inForceIn === undefined
            ? sql``
            : sql`and enabled and (facets @> ${['app']}::text[] or exists (
          select from safety.assignment as given
          where given.tenant_id = ${inForceIn} and given.app_id = ${app} and given.policy_id = rule.id))`
        }
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    return await largeRows<RuleRow>(sql, window.order, page, { of: sql`octet_length(body::text)` });
  },

  /** The ids and names of these rules, by ids. */
  async named(app: string, ids: readonly string[]): Promise<NamedRule[]> {
    if (ids.length === 0) return [];
    return await sql<NamedRule[]>`
      select id, kind, name from safety.rule where app_id = ${app} and id = any(${[...ids]}::text[])`;
  },

  /** The ids and names of the rules with these names, given as parallel columns. */
  async byNames(app: string, asked: readonly Pick<NamedRule, 'kind' | 'name'>[]): Promise<NamedRule[]> {
    if (asked.length === 0) return [];
    return await sql<NamedRule[]>`
      select id, kind, name
      from unnest(${asked.map(({ kind }) => kind)}::text[], ${asked.map(({ name }) => name)}::text[]) as asked(kind, name)
      join safety.rule using (kind, name)
      where app_id = ${app}`;
  },

  /** The policies and reflexes, except one, in whose text one of these names occurs. */
  async mentioning(
    app: string,
    names: readonly string[],
    except: string,
  ): Promise<Pick<RuleRow, 'kind' | 'name' | 'body'>[]> {
    const written = names.map((name) => JSON.stringify(name).slice(1, -1));
    return await sql<Pick<RuleRow, 'kind' | 'name' | 'body'>[]>`
      select kind, name, body from safety.rule
      where app_id = ${app} and kind in ('policy', 'reflex') and id <> ${except}
        and exists (select from unnest(${written}::text[]) as one(name) where strpos(body::text, one.name) > 0)
      order by kind, name`;
  },

  /** A rule that refers to this one. */
  async user(app: string, id: string): Promise<NamedRule | undefined> {
    const [user] = await sql<NamedRule[]>`
      select id, kind, name from safety.rule
      where app_id = ${app} and kind in ('profile', 'policy') and refs @> ${[id]}::text[]
      order by kind desc, name limit 1`;
    return user;
  },
});

const columns = (sql: Sql) => sql`
  app_id, kind, id, name, enabled, facets, refs, body, keywords, expressions, instructions, revision, created_at, updated_at`;
