import type { Forms } from '../../../../generated/auth/server.ts';
import type { Form, FormField, FormFieldInput } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { Conflict, Invalid, NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appForReading, appOfCaller } from '../directory/app-context.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { FormInvalid } from '../errors.ts';
import { answersTo, problemOfFields } from '../text/form-rules.ts';
import { formStore } from './forms.store.ts';

/** Maximum number of forms per app. */
const mostForms = 200;

/** Forms: the questions that an app asks at sign-up. */
export const forms = ({ db, directory }: Pick<Deps, 'db' | 'directory'>) =>
  ({
    async create({ body }, context) {
      const app = await appOfCaller(directory, context, body.app_id);
      const fields = checkedFields(body.fields);
      return db.transaction(async (sql) => {
        const store = formStore(sql);
        if ((await store.countLocked(app.tenant, app.id)) >= mostForms)
          throw Conflict(`limit reached: ${mostForms} forms`);
        const id = newId('form');
        const { form_type, active } = body;
        if (active) await store.deactivate(app.tenant, app.id, form_type, id);
        return store.insert({ id, tenant_id: app.tenant, app_id: app.id, form_type, fields, active });
      });
    },

    async list({ app_id }, context) {
      const app = await appOfCaller(directory, context, app_id);
      return { forms: await formStore(db.sql).list(app.tenant, app.id) };
    },

    async active({ app_id: appId, form_type, 'X-Publishable-Key': publishableKey }, context) {
      const app = await appForReading(directory, context, { publishableKey, appId });
      const form = await formStore(db.sql).active(app.tenant, app.id, form_type);
      if (!form) throw NotFound('active form');
      return form;
    },

    async update({ formId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      if (body.app_id !== undefined && body.app_id !== app.id) throw Invalid('app_id: cannot be changed');
      const fields = body.fields && checkedFields(body.fields);
      return db.transaction(async (sql) => {
        const store = formStore(sql);
        await store.countLocked(app.tenant, app.id);
        const current = await store.get(app.tenant, app.id, formId);
        const next: Form = {
          ...current,
          form_type: body.form_type ?? current.form_type,
          fields: fields ?? current.fields,
          active: body.active ?? current.active,
        };
        if (next.active) await store.deactivate(app.tenant, app.id, next.form_type, formId);
        return store.update(app.tenant, app.id, next);
      });
    },

    async delete({ formId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await formStore(db.sql).delete(app.tenant, app.id, formId);
      return { status: 'deleted' };
    },
  }) satisfies Forms<Context>;

/** Checks the `metadata` of a sign-up, even if empty, against the app's active form, and returns it trimmed; unchanged without a form. */
export type CheckForm = (
  app: KnownApp,
  metadata: Record<string, unknown>,
) => Promise<Record<string, unknown>>;

/** @throws FormInvalid naming every field that violates the form. */
export const formChecker =
  (sql: Sql): CheckForm =>
  async (app, given) => {
    const form = await formStore(sql).active(app.tenant, app.id, 'signup');
    if (!form) return given;
    const { metadata, problems } = answersTo(form.fields, given);
    if (problems.length > 0) throw FormInvalid(problems);
    return metadata;
  };

function checkedFields(fields: readonly FormFieldInput[]): FormField[] {
  // The validators have filled in the members that were left out.
  const filled = fields as FormField[];
  const problem = problemOfFields(filled);
  if (problem !== undefined) throw Invalid(problem);
  return filled;
}
