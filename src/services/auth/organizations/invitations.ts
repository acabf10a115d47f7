import type { Invitations } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Conflict } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { InvalidToken, InvitationDecided } from '../errors.ts';
import { acceptInvitation, declineInvitation, presentedInvitation } from './invitation-answers.ts';
import { invitationStore } from './invitations.store.ts';
import { linkOf } from '../directory/issuer.ts';
import { memberStore } from './members.store.ts';
import { askedBy } from '../../../notify/message-limits.ts';
import { lookOf } from '../look/look.ts';
import { mailOf } from '../messages/mail.ts';
import { invitationMail } from '../messages/message-texts.ts';
import { roleToInvite } from './org-access.ts';
import { checkMayAct, enterToRead, enterToWrite, userOf } from './org-entry.ts';
import { cleanEmail } from '../text/text-rules.ts';
import { issueToken } from '../directory/tokens.ts';

/** Invitations: how people become members by their email address. */
export const invitations = ({ db, directory, write, messages, issuer, limits }: Deps) =>
  ({
    async create({ orgId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const email = cleanEmail(body.email);
      const { token, hash } = issueToken('inv', await directory.tagOf(app.tenant));
      return write(authorOf(context, app), async (tx) => {
        const { organization, standing } = await enterToWrite(
          tx,
          context,
          app,
          orgId,
          roleToInvite(body.role),
        );
        if (await memberStore(tx.sql).hasEmail(tx.tenant, orgId, email)) throw Conflict('already a member');
        const store = invitationStore(tx.sql);
        // Replacing an invitation revokes it, which requires the right to have sent it.
        const replaced = await store.pendingRole(tx.tenant, orgId, email);
        if (replaced !== undefined) checkMayAct(standing, roleToInvite(replaced));
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
        const { name } = await lookOf(tx.sql, app, null);
        const mail = invitationMail(name, organization.name, linkOf(issuer, app, 'invitation', token));
        const draft = {
          ...mailOf(mail, await lookOf(tx.sql, app, orgId)),
          channel: 'email',
          kind: 'invitation',
          to: email,
          token,
          code: null,
          userId: null,
        } as const;
        // Programs invite for many users from one network, so the network says nothing about the inviter.
        const inviter = userOf(context);
        await messages.send(tx, draft, inviter === null ? undefined : askedBy(inviter, context.ip));
        // The event omits the address: its owner may never have signed up, and events are kept.
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
      const window = windowOf(request);
      const found = await invitationStore(db.sql).list(app.tenant, orgId, { status }, window);
      return { invitations: answerPage(context.reply, window, found) };
    },

    async revoke({ orgId, invitationId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { standing } = await enterToWrite(tx, context, app, orgId, 'admin');
        const store = invitationStore(tx.sql);
        checkMayAct(standing, roleToInvite((await store.get(tx.tenant, orgId, invitationId)).role));
        if (!(await store.decide(tx.tenant, invitationId, 'revoked')))
          throw InvitationDecided((await store.get(tx.tenant, orgId, invitationId)).status);
        return { status: 'revoked' as const };
      });
    },

    async accept({ body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const token = await presentedInvitation(directory, body.token);
      if (token.tenant !== app.tenant) throw InvalidToken();
      return write(authorOf(context, app), (tx) => acceptInvitation(tx, token.hash, context.userId!));
    },

    async decline({ body }, { ip, actor }) {
      await limits.take('code', ip);
      await declineInvitation({ db, directory, write }, body.token, actor);
      return { status: 'declined' };
    },
  }) satisfies Invitations<Context>;
