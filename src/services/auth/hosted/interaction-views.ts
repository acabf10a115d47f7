import type { ChallengeMethod, FormField, SignupForm, User } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import type { WaitingSignin } from '../signin/challenge-answers.ts';
import { shownName } from '../apps/client-metadata.ts';
import type { Deps } from '../oauth/access/deps.ts';
import { formStore } from '../apps/forms.store.ts';
import type { Interaction } from '../oauth/interactions.ts';
import { accountPage } from '../views/account-page.ts';
import { consentPage } from '../views/consent-page.ts';
import { questionsOf } from '../views/form-fields.ts';
import type { Extras, Hosted } from '../views/hosted.ts';
import { formActionSource, type PageView } from '../views/layout.ts';
import { mfaPage } from '../views/mfa-page.ts';
import type { Problems } from '../views/problems.ts';
import { signinPage, type InteractionFrame, type InteractionPaths } from '../views/signin-page.ts';
import { signupPage } from '../views/signup-page.ts';
import { userStore } from '../directory/users.store.ts';

/** An interaction in a browser that is signed in. */
export type SignedIn = Interaction & { readonly userId: string };

/** Renders each page of an interaction. */
export interface InteractionViews {
  signin(context: Context, interaction: Interaction, identifier: string, extras?: Extras): Promise<string>;
  mfa(
    context: Context,
    interaction: Interaction,
    waiting: WaitingSignin,
    tried?: ChallengeMethod,
    problems?: Problems,
  ): Promise<string>;
  signup(
    context: Context,
    interaction: Interaction,
    typed?: SignupForm,
    problems?: Problems,
  ): Promise<string>;
  consent(context: Context, interaction: SignedIn): Promise<string>;
  /** The page that asks which account to continue with. */
  account(context: Context, interaction: SignedIn): Promise<string>;
  /** The questions of the app's sign-up form. */
  questions(interaction: Interaction): Promise<readonly FormField[]>;
}

export function interactionViews({ db }: Pick<Deps, 'db'>, hosted: Hosted): InteractionViews {
  /** Browsers also apply the policy of a page to the final target of its forms. */
  const show = (
    context: Context,
    interaction: Interaction,
    view: (frame: InteractionFrame) => PageView,
    extras: Extras = {},
  ): Promise<string> => {
    const { uid, client, redirectUri } = interaction;
    const frame = { paths: pathsOf(hosted, interaction), clientName: shownName(client) };
    const source = redirectUri === null ? undefined : formActionSource(redirectUri);
    const leadsTo = source === undefined ? [] : [source];
    const framed = (csrf: string) => ({ ...view({ ...frame, csrf }), leadsTo });
    const cookies = [hosted.originCookie(client.id, uid), ...(extras.cookies ?? [])];
    return hosted.show(context, interaction, interactionSubject(uid), framed, { ...extras, cookies });
  };

  const accountOf = async ({ app, tenant, userId }: SignedIn) =>
    named(await userStore(db.sql).get(tenant, app.id, userId));

  const questions = async ({ app }: Interaction) =>
    questionsOf(await formStore(db.sql).active(app.tenant, app.id, 'signup'));

  return {
    questions,

    signin(context, interaction, identifier, extras = {}) {
      const { signup_enabled: signupEnabled } = interaction.app.settings;
      const shown = { identifier, signupEnabled, problems: extras.problems };
      return show(context, interaction, (frame) => signinPage({ ...frame, ...shown }), extras);
    },

    mfa(context, interaction, { methods, texted }, tried, problems) {
      const shown = { methods, texted, tried, problems };
      return show(context, interaction, (frame) => mfaPage({ ...frame, ...shown }), { problems });
    },

    async signup(context, interaction, typed, problems) {
      const fewestCharacters = interaction.app.settings.password_min_length;
      const shown = { questions: await questions(interaction), fewestCharacters, typed, problems };
      return show(context, interaction, (frame) => signupPage({ ...frame, ...shown }), { problems });
    },

    async consent(context, interaction) {
      const account = await accountOf(interaction);
      const { scopes, client, redirectUri } = interaction;
      const { self_registered: unverified, logo_url } = client;
      const leadsTo = redirectUri === null ? null : new URL(redirectUri).host || redirectUri;
      const logo = unverified ? null : logo_url;
      const shown = { account, scopes, logo, leadsTo, unverified };
      return show(context, interaction, (frame) => consentPage({ ...frame, ...shown }));
    },

    async account(context, interaction) {
      const account = await accountOf(interaction);
      return show(context, interaction, (frame) => accountPage({ ...frame, account }));
    },
  };
}

export const interactionPage = (uid: string): string => `/oauth2/interactions/${uid}`;
/** The subject that the forms of an interaction are bound to. */
export const interactionSubject = (uid: string): string => `interaction ${uid}`;

function pathsOf({ path }: Hosted, { uid, app }: Interaction): InteractionPaths {
  const page = path(interactionPage(uid));
  return {
    page,
    signin: `${page}/signin`,
    signup: `${page}/signup`,
    mfa: `${page}/mfa`,
    send: `${page}/mfa/send`,
    account: `${page}/account`,
    consent: `${page}/consent`,
    abort: `${page}/abort`,
    forgot: `${path('/pages/forgot-password')}?app_id=${encodeURIComponent(app.id)}`,
  };
}

/** The name by which people know an account. */
const named = ({ id, email, username, phone }: User): string => email ?? username ?? phone ?? id;
