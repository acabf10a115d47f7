import type { Workflows } from '../../../generated/jobs/server.ts';
import type { WorkflowInput } from '../../../generated/jobs/types.ts';
import { newJob, platform } from '../../db/engine/job.ts';
import { type WorkflowColumns, workflowStore } from '../../db/engine/runs/workflows.store.ts';
import type { Context } from '../../http/context.ts';
import { Invalid, NotFound } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { limits } from './limits.ts';
import { workflowView } from './views.ts';

/** Workflows: registered names of code whose steps are recorded. */
export const workflows = ({ db, write, settings: { maxPayload } }: Deps) => {
  const read = workflowStore(db.sql);
  return {
    async list(_, context) {
      return { names: await read.names(tenantsOf(context), context.app, limits.workflowNames) };
    },

    async get({ name }, context) {
      const found = await read.find(tenantsOf(context), context.app, name);
      if (found === undefined) throw NotFound('workflow');
      return workflowView(found);
    },

    put: ({ name, body }, context) => {
      const workflow = columnsOf(name, body, context, maxPayload);
      return write(context, async ({ sql }) => {
        const store = workflowStore(sql);
        const { tenant, app } = context;
        // The queue has no tenant in its name, so the platform would execute the runs of everybody's workflow of this name.
        if (await store.isCode(app, name)) throw registeredByCode();
        const count = await store.lockedCount(tenant, app);
        const known = await store.find([tenant], app, name);
        if (known === undefined && count >= limits.workflows)
          throw Invalid(`name: tenant has ${limits.workflows} workflows`);
        await store.put(workflow);
        return workflowView((await store.find([tenant], app, name, body.version))!);
      });
    },

    delete: ({ name }, context) =>
      write(context, async ({ sql }) => {
        const store = workflowStore(sql);
        const { tenant, app } = context;
        if (await store.delete(tenant, app, name)) return;
        if (context.operator && (await store.isCode(app, name))) throw registeredByCode();
        throw NotFound('workflow');
      }),
  } satisfies Workflows<Context>;
};

/** Whose workflows a name means: the tenant's own, and for the operator then the platform's. */
export const tenantsOf = ({ tenant, operator }: Pick<Context, 'tenant' | 'operator'>): string[] =>
  operator ? [tenant, platform.tenant] : [tenant];

function columnsOf(
  name: string,
  { version, description, ...job }: WorkflowInput,
  { tenant, app }: Context,
  maxPayload: number,
): WorkflowColumns {
  const checked = newJob({ ...job, name }, '', { maxPayload, now: 0 });
  return {
    tenant_id: tenant,
    app_id: app,
    name,
    version,
    description,
    source: 'http',
    max_attempts: checked.maxAttempts,
    timeout_ms: checked.timeoutMs,
    backoff_type: checked.backoff.type,
    backoff_delay_ms: checked.backoff.delayMs,
    backoff_max_ms: checked.backoff.maxMs,
  };
}

const registeredByCode = () => Invalid('workflow is registered by code');
