import type { Invitations } from '../../../generated/auth/server.ts';
import type { Member } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { accountStore } from './accounts.store.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import type { Deps } from './deps.ts';
import type { Directory } from './directory.ts';
import { InvalidToken, InvitationDecided, OtherAddress } from './errors.ts';
import { invitationStore } from './invitations.store.ts';
import { linkOf } from './issuer.ts';
import { memberStore } from './members.store.ts';
import { invitationText } from './message-texts.ts';
import { roleToInvite } from './org-access.ts';
import { checkRoom, enterToRead, enterToWrite, userOf } from './org-entry.ts';
import { organizationStore } from './organizations.store.ts';
import { cleanEmail } from './text-rules.ts';
import { issueToken, readToken } from './tokens.ts';
import type { Write } from './writes.ts';

/** Invitations: how people become members by their email address. */
export const invitations = ({ db, directory, write, messages, issuer, limits }: Deps) =>
  ({
    async create({ orgId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const email = cleanEmail(body.email);
      const { token, hash } = issueToken('inv', await directory.tagOf(app.tenant));
      return write(authorOf(context, app), async (tx) => {
        const { organization } = await enterToWrite(tx, context, app, orgId, roleToInvite(body.role));
        if (await memberStore(tx.sql).hasEmail(tx.tenant, orgId, email)) throw Conflict('already a member');
        const store = invitationStore(tx.sql);
        await store.revokePending(tx.tenant, orgId, email);
        const invitation = await store.insert({
          id: newId('inv'),
          tenant_id: tx.tenant,
          org_id: orgId,
          email,
          role: body.role,
          invited_by: userOf(context),
          token_hash: hash,
        });
        await messages.send(tx, app, {
          ...invitationText(app.name, organization.name, linkOf(issuer, app, 'invitation', token)),
          channel: 'email',
          kind: 'invitation',
          to: email,
          token,
          code: null,
          userId: null,
        });
        // Without the address: whose it is may never have signed up, and events are kept.
        tx.emit('auth.organization.invited', orgId, {
          org_id: orgId,
          invitation_id: invitation.id,
          role: body.role,
        });
        return invitation;
      });
    },

    async list({ orgId, status, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await enterToRead(db.sql, context, app, orgId, 'admin');
      const found = await invitationStore(db.sql).list(app.tenant, orgId, {
        ...newestFirst(request),
        status,
      });
      return { invitations: answerPage(context.reply, found, request.limit, placeOf) };
    },

    async revoke({ orgId, invitationId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await enterToWrite(tx, context, app, orgId, 'admin');
        const store = invitationStore(tx.sql);
        await store.get(tx.tenant, orgId, invitationId);
        if (!(await store.decide(tx.tenant, invitationId, 'revoked')))
          throw InvitationDecided((await store.get(tx.tenant, orgId, invitationId)).status);
        return { status: 'revoked' as const };
      });
    },

    async accept({ body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const token = await presented(directory, body.token);
      if (token.tenant !== app.tenant) throw InvalidToken();
      return write(authorOf(context, app), (tx) => accept(tx, token.hash, context.userId!));
    },

    async decline({ body }, { ip, actor }) {
      await limits.take('code', ip);
      const { tenant, hash } = await presented(directory, body.token);
      const invited = await invitationStore(db.sql).findByToken(tenant, hash);
      if (!invited || !(await directory.app(invited.app_id))) throw InvalidToken();
      return write({ tenant, app: invited.app_id, actor }, async ({ sql }) => {
        await decide(sql, tenant, hash, 'declined');
        return { status: 'declined' as const };
      });
    },
  }) satisfies Invitations<Context>;

/** @throws Invalid where it can be no invitation's token. */
async function presented(directory: Directory, text: string): Promise<{ tenant: string; hash: Buffer }> {
  const token = readToken('inv', text);
  const tenant = token && (await directory.tenantOf(token.tag));
  if (!token || tenant === undefined) throw InvalidToken();
  return { tenant, hash: token.hash };
}

/** Makes the user a member. Whoever has the token reads the mail of the address, which is verified by that. */
async function accept({ sql, tenant, app, emit }: Write, hash: Buffer, userId: string): Promise<Member> {
  const invited = await invitationStore(sql).findByToken(tenant, hash);
  if (invited?.app_id !== app) throw InvalidToken();
  const { org_id, email, role } = invited;
  const user = await memberStore(sql).holdUser(tenant, app, userId);
  if (user?.email !== email) throw OtherAddress();
  const organization = await organizationStore(sql).lock(tenant, app, org_id);
  if (!organization) throw InvalidToken();
  await decide(sql, tenant, hash, 'accepted');
  checkRoom(organization);
  const id = newId('mem');
  const member = await memberStore(sql).insert({ id, tenant_id: tenant, org_id, user_id: userId, role });
  emit('auth.organization.member_added', org_id, { org_id, member_id: id, user_id: userId, role });
  await accountStore(sql).verifyEmail(tenant, app, userId, email);
  if (!user.email_verified) emit('user.email_verified', userId, { user_id: userId });
  return member;
}

/** @throws Invalid where the invitation is over, Conflict where it is decided already. */
async function decide(
  sql: Sql,
  tenant: string,
  hash: Buffer,
  status: 'accepted' | 'declined',
): Promise<void> {
  const store = invitationStore(sql);
  const id = (await store.findByToken(tenant, hash))?.id;
  if (id !== undefined && (await store.decide(tenant, id, status))) return;
  const now = (await store.findByToken(tenant, hash))?.status ?? 'expired';
  throw now === 'expired' ? InvalidToken() : InvitationDecided(now);
}
