import type { Form } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';

export interface NewForm extends Pick<Form, 'id' | 'app_id' | 'form_type' | 'fields' | 'active'> {
  readonly tenant_id: string;
}

/** Every statement about forms. */
export const formStore = (sql: Sql) => ({
  /** Counts the app's forms and locks them: other writers of its forms wait until the end of the transaction. */
  async countLocked(tenant: string, app: string): Promise<number> {
    await sql`select from auth.apps where tenant_id = ${tenant} and id = ${app} for no key update`;
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from auth.forms where tenant_id = ${tenant} and app_id = ${app}`;
    return count;
  },

  async insert(form: NewForm): Promise<Form> {
    const [inserted] = await sql<[Form]>`
      insert into auth.forms (id, tenant_id, app_id, form_type, fields, active)
      values (
        ${form.id}, ${form.tenant_id}, ${form.app_id}, ${form.form_type}, ${JSON.stringify(form.fields)}::text::jsonb,
        ${form.active}
      )
      returning ${columns(sql)}`;
    return inserted;
  },

  async get(tenant: string, app: string, id: string): Promise<Form> {
    const [form] = await sql<Form[]>`
      select ${columns(sql)} from auth.forms where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!form) throw NotFound('form');
    return form;
  },

  async active(tenant: string, app: string, type: Form['form_type']): Promise<Form | undefined> {
    const [form] = await sql<Form[]>`
      select ${columns(sql)}
      from auth.forms
      where tenant_id = ${tenant} and app_id = ${app} and form_type = ${type} and active`;
    return form;
  },

  /** Lists the newest first. */
  async list(tenant: string, app: string): Promise<Form[]> {
    return await sql<Form[]>`
      select ${columns(sql)}
      from auth.forms
      where tenant_id = ${tenant} and app_id = ${app}
      order by created_at desc, id desc
      limit 200`;
  },

  /** Deactivates the active form of a type. */
  async deactivate(tenant: string, app: string, type: Form['form_type'], except: string): Promise<void> {
    await sql`
      update auth.forms set active = false, version = version + 1, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and form_type = ${type} and active and id <> ${except}`;
  },

  async update(tenant: string, app: string, form: Form): Promise<Form> {
    const [updated] = await sql<[Form]>`
      update auth.forms
      set form_type = ${form.form_type}, fields = ${JSON.stringify(form.fields)}::text::jsonb,
        active = ${form.active}, version = version + 1, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and id = ${form.id}
      returning ${columns(sql)}`;
    return updated;
  },

  async delete(tenant: string, app: string, id: string): Promise<void> {
    const { count } = await sql`
      delete from auth.forms where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (count === 0) throw NotFound('form');
  },
});

const columns = (sql: Sql) => sql`
  forms.id, forms.app_id, forms.form_type, forms.fields, forms.active, forms.version, forms.created_at,
  forms.updated_at`;
