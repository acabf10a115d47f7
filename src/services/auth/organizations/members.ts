import type { Members } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { LastOwner } from '../errors.ts';
import { checkFixed } from '../text/fixed.ts';
import { memberStore } from './members.store.ts';
import { roleToManage } from './org-access.ts';
import { endMembership, endInvitationsBy } from './org-endings.ts';
import {
  checkMayAct,
  checkRoom,
  enterToAdd,
  enterToRead,
  enterToWrite,
  sightOf,
  userOf,
} from './org-entry.ts';

/** Members: who belongs to an organization, and what they may do in it. */
export const members = ({ db, directory, write }: Deps) =>
  ({
    async add({ orgId, body: { user_id, role } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = memberStore(tx.sql);
        // The user is locked before the organization, as everywhere: an erasure locks the user first.
        const user = await store.holdUser(tx.tenant, tx.app, user_id);
        const { organization, standing } = await enterToAdd(tx, context, app, orgId);
        if (!user) throw NotFound('user');
        checkRoom(organization);
        const id = newId('mem');
        const member = await store.insert(
          { id, tenant_id: tx.tenant, org_id: orgId, user_id, role },
          sightOf(context, standing),
        );
        tx.emit('auth.organization.member_added', orgId, { org_id: orgId, member_id: id, user_id, role });
        return member;
      });
    },

    async list({ orgId, role, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const { standing } = await enterToRead(db.sql, context, app, orgId);
      const sight = sightOf(context, standing);
      const window = windowOf(request);
      const found = await memberStore(db.sql).list(app.tenant, orgId, { role, sight }, window);
      return { members: answerPage(context.reply, window, found) };
    },

    async update({ orgId, memberId, body: { role, user_id } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { standing } = await enterToWrite(tx, context, app, orgId, 'owner');
        const sight = sightOf(context, standing);
        const store = memberStore(tx.sql);
        const member = await store.get(tx.tenant, orgId, memberId, sight);
        checkFixed('user_id', user_id, member.user_id);
        if (member.role === role) return member;
        if (member.role === 'owner' && !(await store.hasOtherOwner(tx.tenant, orgId, memberId)))
          throw LastOwner();
        await store.setRole(tx.tenant, orgId, memberId, role);
        await endInvitationsBy(tx, orgId, member.user_id, role);
        tx.emit('auth.organization.member_updated', orgId, {
          org_id: orgId,
          member_id: memberId,
          user_id: member.user_id,
          role,
        });
        return store.get(tx.tenant, orgId, memberId, sight);
      });
    },

    async remove({ orgId, memberId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { standing } = await enterToWrite(tx, context, app, orgId, 'member');
        const store = memberStore(tx.sql);
        const member = await store.get(tx.tenant, orgId, memberId, sightOf(context, standing));
        if (member.user_id !== userOf(context)) checkMayAct(standing, roleToManage(member.role));
        if (member.role === 'owner' && !(await store.hasOtherOwner(tx.tenant, orgId, memberId)))
          throw LastOwner();
        await endMembership(tx, member);
        return { status: 'removed' as const };
      });
    },
  }) satisfies Members<Context>;
