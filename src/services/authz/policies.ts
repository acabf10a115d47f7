import type { Policies } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { newId } from '../../lib/ids.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import type { Deps } from './deps.ts';
import { judgePolicy, sizeOfPolicy } from './engine/policies.ts';
import type { Matchers, PolicySize } from './engine/policies.ts';
import { checkLimit, checkTotal } from './limits.ts';
import { newestIdFirst } from './lists.ts';
import { policyStore } from './policies.store.ts';
import { changed, stamp } from './records.ts';
import { inSlices, Slices } from './turns.ts';
import type { Write } from './writes.ts';

/** Policies: rules over attributes that allow or deny. */
export const policies = ({ db, models, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkShownText('name', body.name);
      const slices = new Slices(models.turns, context.tenant);
      await inSlices(slices, judgePolicy(body));
      return write(context, async (tx) => {
        checkLimit('policies', tx.before.policies);
        const id = newId('pol');
        const size = await roomFor(tx, id, body);
        const policy = await policyStore(tx.sql).insert({ ...body, ...stamp(tx), id }, size);
        tx.count('policies', 1);
        tx.change('policy', 'put', [policy]);
        tx.emit('authz.policy.created', policy.id, policy);
        return policy;
      });
    },

    async list({ effect, is_active, search, ...request }, context) {
      const window = windowOf(request, newestIdFirst);
      const filter = { effect, is_active, search };
      const found = await policyStore(db.sql).list(context.tenant, filter, window);
      return answerPage(context.reply, window, found);
    },

    get: ({ policyId }, context) => policyStore(db.sql).get(context.tenant, policyId),

    async update({ policyId, body }, context) {
      const slices = new Slices(models.turns, context.tenant);
      await inSlices(slices, judgePolicy(body));
      return write(context, async (tx) => {
        const store = policyStore(tx.sql);
        const current = await store.get(tx.tenant, policyId);
        const next = changed(current, body);
        if (!next) return current;
        checkShownText('name', next.name);
        const size = await roomFor(tx, policyId, next);
        const policy = await store.update({ ...next, ...stamp(tx) }, size);
        tx.change('policy', 'put', [policy]);
        tx.emit('authz.policy.updated', policyId, policy);
        return policy;
      });
    },

    delete: ({ policyId }, context) =>
      write(context, async (tx) => {
        const store = policyStore(tx.sql);
        const policy = await store.get(tx.tenant, policyId);
        await store.delete(tx.tenant, policyId);
        tx.count('policies', -1);
        tx.change('policy', 'del', [{ id: policyId }]);
        tx.emit('authz.policy.deleted', policyId, policy);
      }),
  }) satisfies Policies<Context>;

/** Returns the size of a policy. @throws LimitReached if the tenant's policies would be too large in total */
async function roomFor({ sql, tenant }: Write, id: string, policy: Matchers): Promise<PolicySize> {
  const size = sizeOfPolicy(policy);
  const { all, own } = await policyStore(sql).sizes(tenant, id);
  const check = (of: Parameters<typeof checkTotal>[0], member: keyof PolicySize) =>
    checkTotal(of, all[member] - own[member], size[member], own[member]);
  check('wildcards', 'wildcards');
  check('instructions', 'instructions');
  check('policyBytes', 'bytes');
  return size;
}
