import { isDeepStrictEqual } from 'node:util';
import type { Organizations } from '../../../../generated/auth/server.ts';
import type { Organization, OrganizationUpdate } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { MissingScope } from '../errors.ts';
import { checkFixed } from '../text/fixed.ts';
import { cleanLabel } from '../text/labels.ts';
import { refuseLink } from '../text/link-rules.ts';
import { memberStore } from './members.store.ts';
import { endOrganization } from './org-endings.ts';
import { enterToRead, enterToWrite, userOf } from './org-entry.ts';
import { organizationStore } from './organizations.store.ts';
import { checkMetadata } from '../text/text-rules.ts';
import { cleanUrl } from '../text/url-rules.ts';

/** Organizations: groups of users in an app. */
export const organizations = ({ db, directory, write, production }: Deps) =>
  ({
    async create({ body: { app_id, ...body } }, context) {
      const userId = userOf(context);
      if (userId === null && !context.holds('auth:write')) throw MissingScope('auth:write');
      const app = await appOfCaller(directory, context, app_id);
      const given = { ...body, ...clean(body, production) };
      refuseLink('name', given.name);
      return write(authorOf(context, app), async ({ sql, tenant, app, emit }) => {
        if (userId !== null && !(await memberStore(sql).holdUser(tenant, app, userId)))
          throw Invalid('X-User-ID: no such user');
        const id = newId('org');
        const created = await organizationStore(sql).insert({
          ...given,
          id,
          tenant_id: tenant,
          app_id: app,
        });
        emit('auth.organization.created', id, { org_id: id, slug: created.slug });
        if (userId === null) return created;
        const owner = {
          id: newId('mem'),
          tenant_id: tenant,
          org_id: id,
          user_id: userId,
          role: 'owner',
        } as const;
        await memberStore(sql).insert(owner, { all: false, invited: false, self: userId });
        emit('auth.organization.member_added', id, {
          org_id: id,
          member_id: owner.id,
          user_id: userId,
          role: owner.role,
        });
        return { ...created, member_count: 1 };
      });
    },

    async list({ app_id, ...request }, context) {
      const userId = userOf(context);
      const all = context.holds('auth:read');
      if (userId === null && !all) throw MissingScope('auth:read');
      const app = await appOfCaller(directory, context, app_id);
      const window = windowOf(request);
      const filter = { memberId: all ? null : userId };
      const found = await organizationStore(db.sql).list(app.tenant, app.id, filter, window);
      return { organizations: answerPage(context.reply, window, found) };
    },

    async get({ orgId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return (await enterToRead(db.sql, context, app, orgId)).organization;
    },

    async update({ orgId, body: { app_id, ...body } }, context) {
      const change = clean(body, production);
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { organization } = await enterToWrite(tx, context, app, orgId, 'admin');
        checkFixed('app_id', app_id, organization.app_id);
        const next = { ...organization, ...change };
        const fields = changeable.filter((member) => !isDeepStrictEqual(next[member], organization[member]));
        if (fields.length === 0) return organization;
        // A name that predates the rule may be written back unchanged.
        if (fields.includes('name')) refuseLink('name', next.name);
        const updated = await organizationStore(tx.sql).update(tx.tenant, next);
        tx.emit('auth.organization.updated', orgId, { org_id: orgId, fields });
        return updated;
      });
    },

    async delete({ orgId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'owner');
        await endOrganization(tx, orgId);
        return { status: 'deleted' as const };
      });
    },
  }) satisfies Organizations<Context>;

const changeable = ['name', 'slug', 'logo', 'metadata'] as const;

/** Returns the given members in their stored form; absent members stay absent. */
function clean(
  { name, slug, logo, metadata }: Omit<OrganizationUpdate, 'app_id'>,
  production: boolean,
): Partial<Pick<Organization, (typeof changeable)[number]>> {
  if (metadata !== undefined) checkMetadata(metadata);
  return {
    ...(name === undefined ? {} : { name: cleanLabel('name', name) }),
    ...(slug === undefined ? {} : { slug }),
    ...(logo === undefined ? {} : { logo: logo === null ? null : cleanUrl('logo', logo, production) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
