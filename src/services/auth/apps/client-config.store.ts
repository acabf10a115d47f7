import type { Brand, Form } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { brandColumns } from '../look/branding.store.ts';

/** The statement behind the configuration of a sign-up or sign-in screen. */
export const clientConfigStore = (sql: Sql) => ({
  async looks(tenant: string, app: string): Promise<{ form: Form | null; branding: Brand | null }> {
    const [[form], [branding]] = await Promise.all([
      sql<Form[]>`
        select id, app_id, form_type, fields, active, version, created_at, updated_at
        from auth.forms
        where tenant_id = ${tenant} and app_id = ${app} and form_type = 'signup' and active`,
      sql<Brand[]>`
        select ${brandColumns(sql)}
        from auth.branding
        where tenant_id = ${tenant} and app_id = ${app} and org_id = ''`,
    ]);
    return { form: form ?? null, branding: branding ?? null };
  },
});
