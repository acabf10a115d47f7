import type { Teams } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { cleanLabel } from '../text/labels.ts';
import { enterToRead, enterToWrite } from './org-entry.ts';
import { organizationStore } from './organizations.store.ts';
import { teamStore } from './teams.store.ts';

/** Teams: groups of members inside an organization. */
export const teams = ({ db, directory, write }: Deps) =>
  ({
    async create({ orgId, body }, context) {
      const name = cleanLabel('name', body.name);
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        const team = { id: newId('team'), tenant_id: tx.tenant, org_id: orgId, name, slug: body.slug };
        return teamStore(tx.sql).insert(team);
      });
    },

    async list({ orgId, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await enterToRead(db.sql, context, app, orgId);
      const window = windowOf(request);
      const found = await teamStore(db.sql).list(app.tenant, orgId, window);
      return { teams: answerPage(context.reply, window, found) };
    },

    async get({ orgId, teamId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await enterToRead(db.sql, context, app, orgId);
      return teamStore(db.sql).get(app.tenant, orgId, teamId);
    },

    async update({ orgId, teamId, body }, context) {
      const name = body.name === undefined ? undefined : cleanLabel('name', body.name);
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        const team = await teamStore(tx.sql).get(tx.tenant, orgId, teamId);
        const next = { ...team, name: name ?? team.name, slug: body.slug ?? team.slug };
        if (next.name === team.name && next.slug === team.slug) return team;
        return teamStore(tx.sql).update(tx.tenant, next);
      });
    },

    async delete({ orgId, teamId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        await teamStore(tx.sql).delete(tx.tenant, orgId, teamId);
        return { status: 'deleted' as const };
      });
    },

    async addMember({ orgId, teamId, body: { user_id } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        const store = teamStore(tx.sql);
        await store.get(tx.tenant, orgId, teamId);
        if ((await organizationStore(tx.sql).roleOf(tx.tenant, orgId, user_id)) === null)
          throw NotFound('member');
        return store.addMember({ id: newId('tmem'), tenant_id: tx.tenant, team_id: teamId, user_id });
      });
    },

    async members({ orgId, teamId, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await enterToRead(db.sql, context, app, orgId);
      await teamStore(db.sql).get(app.tenant, orgId, teamId);
      const window = windowOf(request);
      const found = await teamStore(db.sql).members(app.tenant, teamId, window);
      return { members: answerPage(context.reply, window, found) };
    },

    async removeMember({ orgId, teamId, teamMemberId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        await teamStore(tx.sql).get(tx.tenant, orgId, teamId);
        await teamStore(tx.sql).removeMember(tx.tenant, teamId, teamMemberId);
        return { status: 'removed' as const };
      });
    },
  }) satisfies Teams<Context>;
