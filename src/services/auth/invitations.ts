import type { Invitations } from '../../../generated/auth/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import type { Deps } from './deps.ts';
import { InvalidToken, InvitationDecided } from './errors.ts';
import { acceptInvitation, declineInvitation, presentedInvitation } from './invitation-answers.ts';
import { invitationStore } from './invitations.store.ts';
import { linkOf } from './issuer.ts';
import { memberStore } from './members.store.ts';
import { invitationText } from './message-texts.ts';
import { roleToInvite } from './org-access.ts';
import { enterToRead, enterToWrite, userOf } from './org-entry.ts';
import { cleanEmail } from './text-rules.ts';
import { issueToken } from './tokens.ts';

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
