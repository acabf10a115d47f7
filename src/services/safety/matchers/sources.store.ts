import type { Sql } from '../../../db/index.ts';
import type { RuleRow } from '../rules/rules.store.ts';

/** The rules of an app at one revision. */
export interface AppRows {
  readonly app_id: string;
  readonly revision: number;
  readonly rules: readonly Pick<RuleRow, 'kind' | 'id' | 'name' | 'enabled' | 'refs' | 'revision' | 'body'>[];
}

/** The statements that read what matchers are compiled from. */
export const sourceStore = (sql: Sql) => ({
  /** One statement, so that the rules and the revision belong together. An app that never wrote has no row. */
  async rulesOf(apps: readonly string[]): Promise<AppRows[]> {
    return await sql<AppRows[]>`
      select app.app_id, app.revision, coalesce(
        json_agg(json_build_object('kind', rule.kind, 'id', rule.id, 'name', rule.name, 'enabled', rule.enabled,
          'refs', rule.refs, 'revision', rule.revision, 'body', rule.body))
          filter (where rule.id is not null),
        '[]'
      ) as rules
      from safety.app as app left join safety.rule as rule on rule.app_id = app.app_id
      where app.app_id = any(${[...apps]}::text[])
      group by app.app_id, app.revision`;
  },
});
