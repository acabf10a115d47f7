import type { Policies } from '../../../../generated/safety/server.ts';
import type { PolicyTarget } from '../../../../generated/safety/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { isOperators } from '../../../http/operators.ts';
import { Conflict, DomainError, Forbidden, Invalid, NotFound } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { kinds } from '../rules/kinds.ts';
import { rules } from '../rules/rules.ts';
import { ruleStore } from '../rules/rules.store.ts';
import { assignmentStore, newestAssigned } from './assignments.store.ts';

/** Policies and their assignments. The frame lets only the operator name a tenant other than the caller's own. */
export function policies({ db, write }: Pick<Deps, 'db' | 'write'>) {
  const of = rules({ db, write }, kinds.policy);
  return {
    create: of.create,
    get: ({ policyId: id }, context) => of.get({ id }, context),
    update: ({ policyId: id, body }, context) => of.update({ id, body }, context),
    delete: ({ policyId: id }, context) => of.delete({ id }, context),
    list: ({ scope_level, tenant_id: inForceIn, ...request }, context) =>
      of.list({ ...request, inForceIn, builtin: false }, scope_level, context),

    assign: ({ policyId, body }, context) =>
      write(context, async ({ sql, app, emit, reassigned }) => {
        const policy = await ruleStore(sql).find(app, 'policy', policyId);
        if (policy === undefined) throw NotFound('policy');
        if (policy.facets.includes('app'))
          throw Invalid('policyId: a policy of level app applies to all tenants');
        const tenant = targetOf(body, context);
        const assignment = await assignmentStore(sql).insert(tenant, app, policyId, isOperators(context));
        if (assignment === undefined) throw Conflict('policy is already assigned');
        reassigned(tenant);
        emit('safety.policy.assigned', policyId, assignment);
        return assignment;
      }),

    unassign: ({ policyId, body }, context) =>
      write(context, async ({ sql, app, emit, reassigned }) => {
        const tenant = targetOf(body, context);
        const isTheirs = await assignmentStore(sql).isOperators(tenant, app, policyId);
        if (isTheirs === undefined) throw NotAssigned();
        if (isTheirs && !isOperators(context)) throw Forbidden('policy was assigned by the operator');
        await assignmentStore(sql).delete(tenant, app, policyId);
        reassigned(tenant);
        emit('safety.policy.unassigned', policyId, { policy_id: policyId, tenant_id: tenant });
      }),

    async listAssignments({ policyId, ...request }, { app, tenant, operator, reply }) {
      const window = windowOf(request, newestAssigned);
      if ((await ruleStore(db.sql).find(app, 'policy', policyId)) === undefined) throw NotFound('policy');
      const rows = await assignmentStore(db.sql).list(operator ? undefined : tenant, app, policyId, window);
      return answerPage(reply, window, rows);
    },
  } satisfies Policies<Context>;
}

const targetOf = (body: PolicyTarget | undefined, { tenant }: Context) => body?.tenant_id ?? tenant;

const NotAssigned = () => new DomainError('notFound', 'policy is not assigned');
