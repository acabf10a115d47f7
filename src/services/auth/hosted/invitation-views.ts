import type { InvitationForm } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { formStore } from '../apps/forms.store.ts';
import { accountStore } from '../directory/accounts.store.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { OpenInvitation } from '../organizations/invitation-answers.ts';
import { waitingSignin } from '../signin/challenge-answers.ts';
import { questionsOf } from '../views/form-fields.ts';
import type { Hosted, Owner } from '../views/hosted.ts';
import { invitationFactorPage, invitationPage, type Acceptance } from '../views/invitation-page.ts';
import { lookOf } from '../look/look.ts';
import type { Problems } from '../views/problems.ts';

export const page = '/pages/invitation';

/** The invitation whose page is open, with the token of its link. */
export interface Visited {
  readonly token: string;
  readonly invited: OpenInvitation;
}

/** Renders both steps of the page of an invitation. */
export interface InvitationViews {
  invitation(
    context: Context,
    visited: Visited,
    typed?: InvitationForm,
    problems?: Problems,
  ): Promise<string>;
  /** The second step. This page cannot send a text message, so the only SMS code it accepts is one that was already sent. */
  factor(
    context: Context,
    visited: Visited,
    challenge: string,
    tried?: InvitationForm['method'],
    problems?: Problems,
  ): Promise<string>;
}

export function invitationViews(deps: Deps, hosted: Hosted): InvitationViews {
  const action = hosted.path(page);
  return {
    async invitation(context, { token, invited }, typed, problems) {
      const { app, organization, email, role } = invited;
      const acceptance = await acceptanceOf(deps, hosted, invited);
      const shown = {
        action,
        token,
        organization: organization.name,
        app: (await lookOf(deps.db.sql, app, null)).name,
        email,
        role,
        acceptance,
      };
      return hosted.show(
        context,
        ownerOf(invited),
        subjectOf(token),
        (csrf) => invitationPage({ ...shown, csrf, typed, problems }),
        { problems },
      );
    },

    async factor(context, { token, invited }, challenge, tried, problems) {
      const waiting = await waitingSignin(deps, challenge);
      const methods = waiting?.methods.filter((method) => method !== 'sms' || waiting.texted) ?? [];
      const texted = waiting?.texted ?? false;
      const organization = invited.organization.name;
      const shown = { action, token, organization, methods, texted, tried, problems };
      return hosted.show(
        context,
        ownerOf(invited),
        subjectOf(token),
        (csrf) => invitationFactorPage({ ...shown, csrf }),
        { problems, cookies: [hosted.challenge.keep(page, challenge)] },
      );
    },
  };
}

/** How the invited address can accept: with its account, with a new one, or not at all. */
async function acceptanceOf(deps: Deps, hosted: Hosted, invited: OpenInvitation): Promise<Acceptance> {
  const { id, settings } = invited.app;
  if (await invitedAccount(deps, invited))
    return {
      as: 'account',
      forgot: `${hosted.path('/pages/forgot-password')}?app_id=${encodeURIComponent(id)}`,
    };
  if (!settings.signup_enabled) return { as: 'nobody' };
  return {
    as: 'new',
    fewestCharacters: settings.password_min_length,
    questions: await invitationQuestions(deps, invited),
  };
}

/** The account of the invited address, if it has one. */
export const invitedAccount = ({ db }: Pick<Deps, 'db'>, { app, email }: OpenInvitation) =>
  accountStore(db.sql).find(app.tenant, app.id, { email });

/** The questions of the app's sign-up form. */
export const invitationQuestions = async ({ db }: Pick<Deps, 'db'>, { app }: OpenInvitation) =>
  questionsOf(await formStore(db.sql).active(app.tenant, app.id, 'signup'));

export const ownerOf = ({ app, organization }: OpenInvitation): Owner => ({ app, orgId: organization.id });

/** The subject that the forms of an invitation are bound to. */
export const subjectOf = (token: string): string => `invitation ${token}`;
