import type { Members } from '../../../generated/auth/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import type { Deps } from './deps.ts';
import { LastOwner } from './errors.ts';
import { checkFixed } from './fixed.ts';
import { memberStore } from './members.store.ts';
import { roleToManage } from './org-access.ts';
import { endMembership } from './org-endings.ts';
import { checkMayAct, checkRoom, enterToRead, enterToWrite, userOf } from './org-entry.ts';

/** Members: who belongs to an organization, and what they may do in it. */
export const members = ({ db, directory, write }: Deps) =>
  ({
    async add({ orgId, body: { user_id, role } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = memberStore(tx.sql);
        // Before the organization, as everywhere: an erasure locks the user first.
        const user = await store.holdUser(tx.tenant, tx.app, user_id);
        const { organization } = await enterToWrite(tx, context, app, orgId, roleToManage(role));
        if (!user) throw NotFound('user');
        checkRoom(organization);
        const id = newId('mem');
        const member = await store.insert({ id, tenant_id: tx.tenant, org_id: orgId, user_id, role });
        tx.emit('auth.organization.member_added', orgId, { org_id: orgId, member_id: id, user_id, role });
        return member;
      });
    },

    async list({ orgId, role, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await enterToRead(db.sql, context, app, orgId);
      const found = await memberStore(db.sql).list(app.tenant, orgId, { ...newestFirst(request), role });
      return { members: answerPage(context.reply, found, request.limit, placeOf) };
    },

    async update({ orgId, memberId, body: { role, user_id } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'owner');
        const store = memberStore(tx.sql);
        const member = await store.get(tx.tenant, orgId, memberId);
        checkFixed('user_id', user_id, member.user_id);
        if (member.role === role) return member;
        if (member.role === 'owner' && !(await store.hasOtherOwner(tx.tenant, orgId, memberId)))
          throw LastOwner();
        await store.setRole(tx.tenant, orgId, memberId, role);
        tx.emit('auth.organization.member_updated', orgId, {
          org_id: orgId,
          member_id: memberId,
          user_id: member.user_id,
          role,
        });
        return store.get(tx.tenant, orgId, memberId);
      });
    },

    async remove({ orgId, memberId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { standing } = await enterToWrite(tx, context, app, orgId, 'member');
        const store = memberStore(tx.sql);
        const member = await store.get(tx.tenant, orgId, memberId);
        if (member.user_id !== userOf(context)) checkMayAct(standing, roleToManage(member.role));
        if (member.role === 'owner' && !(await store.hasOtherOwner(tx.tenant, orgId, memberId)))
          throw LastOwner();
        await endMembership(tx, member);
        return { status: 'removed' as const };
      });
    },
  }) satisfies Members<Context>;
