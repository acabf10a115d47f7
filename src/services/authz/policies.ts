import type { Policies } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { newId } from '../../lib/ids.ts';
import type { Deps } from './deps.ts';
import { checkPolicy } from './engine/policies.ts';
import { checkLimit } from './errors.ts';
import { answerPage, idWindow } from './lists.ts';
import { policyStore } from './policies.store.ts';
import { changed, stamp } from './records.ts';

/** Policies: rules over attributes that allow or deny. */
export const policies = ({ db, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkPolicy(body);
      return write(context, async (tx) => {
        checkLimit('policies', tx.before.policies);
        const policy = await policyStore(tx.sql).insert({ ...body, ...stamp(tx), id: newId('pol') });
        tx.count('policies', 1);
        tx.change('policy', 'put', [policy]);
        tx.emit('policy.created', policy.id, policy);
        return policy;
      });
    },

    async list({ effect, is_active, search, ...request }, context) {
      const filter = { ...idWindow(request), effect, is_active, search };
      return answerPage(context, await policyStore(db.sql).list(context.tenant, filter), request.limit);
    },

    get: ({ policyId }, context) => policyStore(db.sql).get(context.tenant, policyId),

    update: ({ policyId, body }, context) =>
      write(context, async (tx) => {
        const store = policyStore(tx.sql);
        const current = await store.get(tx.tenant, policyId);
        const next = changed(current, body);
        if (!next) return current;
        checkPolicy(next);
        const policy = await store.update({ ...next, ...stamp(tx) });
        tx.change('policy', 'put', [policy]);
        tx.emit('policy.updated', policyId, policy);
        return policy;
      }),

    delete: ({ policyId }, context) =>
      write(context, async (tx) => {
        const store = policyStore(tx.sql);
        const policy = await store.get(tx.tenant, policyId);
        await store.delete(tx.tenant, policyId);
        tx.count('policies', -1);
        tx.change('policy', 'del', [{ id: policyId }]);
        tx.emit('policy.deleted', policyId, policy);
      }),
  }) satisfies Policies<Context>;
