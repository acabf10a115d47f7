import type { TaxRate } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';

/** Every statement about tax rates. */
export const taxRateStore = (sql: Sql) => ({
  /** @throws the violation of `tax_rate_region` when the country or state has a rate */
  async insert(rate: TaxRate): Promise<void> {
    await sql`insert into billing.tax_rate ${sql({ ...rate, region: rate.state?.toLowerCase() ?? '' })}`;
  },

  async list(app: string, page: PageRequest) {
    const rows = sql`from billing.tax_rate where app_id = ${app}`;
    return await readPage(
      sql<TaxRate[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  /** Returns false when there is no such rate. */
  async delete(app: string, id: string): Promise<boolean> {
    const { count } = await sql`delete from billing.tax_rate where app_id = ${app} and id = ${id}`;
    return count > 0;
  },
});

const columns = (sql: Sql) => sql`id, country, state, name, rate, app_id, created_at`;
