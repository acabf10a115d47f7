import type { Retention } from '../../../../generated/audit/server.ts';
import type { RetentionPolicy } from '../../../../generated/audit/types.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { isOperators } from '../../../http/operators.ts';
import { viewOf } from '../../../http/view.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { Forbidden, Invalid, NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { ownCategory } from '../append/new-event.ts';
import type { Deps } from '../deps.ts';
import { newestById } from '../newest-by-id.ts';
import { checkReader } from '../reader.ts';
import type { Settings } from '../settings.ts';
import { authorOf } from '../writes.ts';
import { callBounds, enforce, type EnforcerDeps } from './enforcement.ts';
import { policyStore } from './policies.store.ts';
import { purgeStore } from './purge.store.ts';

const mostPolicies = 200;
const [shortestMs, longestMs] = [3_600_000, 876_000 * 3_600_000];

/** Retention: how long events are kept, and the archives of purged events. */
export const retention = (deps: EnforcerDeps & Pick<Deps, 'settings'>) => {
  const { db, write, files } = deps;
  return {
    async list({ tenant_id }, context) {
      const policies = await policyStore(db.sql).list(viewOf(context, tenant_id), mostPolicies + 1);
      if (policies.length > mostPolicies)
        throw Invalid(`tenant_id: is required, because all tenants have more than ${mostPolicies} policies`);
      return policies;
    },

    create: ({ body }, context) => put(deps, context, body),

    async delete({ id }, context) {
      const { tenant_id } = await policyStore(db.sql).get(viewOf(context), id);
      await write(authorOf(context, tenant_id), async ({ sql, act }) => {
        const { category, set_by } = await policyStore(sql).delete(tenant_id, id);
        if (set_by === 'operator' && setterOf(context) === 'tenant')
          throw Forbidden('only the operator may delete a policy that the operator set');
        await act({
          action: 'retention_policy.deleted',
          resource: 'retention_policy',
          resource_id: id,
          metadata: { category },
        });
      });
    },

    enforce: (_, context) => enforce(deps, viewOf(context), callBounds, context.signal),

    async archives({ tenant_id, ...request }, context) {
      const window = windowOf(request, newestById);
      return answerPage(
        context.reply,
        window,
        await purgeStore(db.sql).archives(viewOf(context, tenant_id), window),
      );
    },

    async archiveContent({ id }, context) {
      checkReader(context);
      const { sink_ref } = await purgeStore(db.sql).archive(viewOf(context), id);
      const content = await files?.read(sink_ref);
      if (content === undefined) throw NotFound('archive');
      return content;
    },
  } satisfies Retention<Context>;
};

/** Creates the policy of a category, or puts it in place of the one before. */
async function put(
  { write, settings }: Pick<Deps, 'write' | 'settings'>,
  context: Context,
  {
    category,
    duration,
    archive = false,
    tenant_id: tenant = context.tenant,
  }: Parameters<Retention['create']>[0]['body'],
): Promise<RetentionPolicy> {
  const { app } = context;
  if (category === ownCategory) throw Invalid('category audit is reserved');
  const duration_ms = checkedDuration(duration, settings, context.operator);
  return write(authorOf(context, tenant), async ({ sql, act }) => {
    const store = policyStore(sql);
    if ((await store.countOthers(tenant, app, category)) >= mostPolicies)
      throw Invalid(`category: the tenant has ${mostPolicies} policies`);
    const set_by = setterOf(context);
    if (set_by === 'tenant' && (await store.isDecided(tenant, app)))
      throw Forbidden('category: the operator set the policy for all categories');
    const id = newId('retpol');
    const policy = await store.put({
      id,
      tenant_id: tenant,
      app_id: app,
      category,
      duration,
      duration_ms,
      archive,
      set_by,
    });
    if (policy === undefined)
      throw Forbidden('category: only the operator may replace a policy that the operator set');
    await act({
      action: policy.id === id ? 'retention_policy.created' : 'retention_policy.replaced',
      resource: 'retention_policy',
      resource_id: policy.id,
      metadata: { category, duration, archive },
    });
    return policy;
  });
}

const setterOf = (context: Context): RetentionPolicy['set_by'] =>
  isOperators(context) ? 'operator' : 'tenant';

/** Only the operator may let events go so early that a tenant's admin could hide what he did. */
function checkedDuration(duration: string, { minRetentionMs }: Settings, isOperator: boolean): number {
  const ms = parseDuration(duration);
  if (ms === undefined || ms < shortestMs || ms > longestMs)
    throw Invalid('duration: must be a duration from 1h to 876000h');
  if (ms < minRetentionMs && !isOperator)
    throw Forbidden(
      `duration: only the operator may keep events for less than ${minRetentionMs / 3_600_000}h`,
    );
  return ms;
}

/** Enforces the policies of everybody. */
export const retentionSweeps = (deps: EnforcerDeps & Pick<Deps, 'settings'>): Sweep[] =>
  deps.settings.retentionIntervalMs === 0
    ? []
    : [
        {
          name: 'audit.retention',
          everyMs: deps.settings.retentionIntervalMs,
          batch: 1,
          steps: [
            async (_, signal) => {
              const { complete } = await enforce(
                deps,
                undefined,
                { events: Infinity, ms: callBounds.ms },
                signal,
              );
              return complete ? 0 : 1;
            },
          ],
        },
      ];
