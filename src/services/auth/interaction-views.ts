import type { ChallengeMethod, FormField, SignupForm, User } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import type { WaitingSignin } from './challenge-answers.ts';
import type { Deps } from './deps.ts';
import { formStore } from './forms.store.ts';
import type { Interaction } from './interactions.ts';
import { consentPage } from './pages/consent-page.ts';
import { questionsOf } from './pages/form-fields.ts';
import type { Extras, Hosted } from './pages/hosted.ts';
import { formActionSource, type PageView } from './pages/layout.ts';
import { mfaPage } from './pages/mfa-page.ts';
import type { Problems } from './pages/problems.ts';
import { signinPage, type InteractionFrame, type InteractionPaths } from './pages/signin-page.ts';
import { signupPage } from './pages/signup-page.ts';
import { userStore } from './users.store.ts';

/** Answers each page of an interaction. */
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
  consent(context: Context, interaction: Interaction & { readonly userId: string }): Promise<string>;
  /** What the app's form asks whoever signs up. */
  questions(interaction: Interaction): Promise<readonly FormField[]>;
}

export function interactionViews({ db }: Pick<Deps, 'db'>, hosted: Hosted): InteractionViews {
  /** Browsers apply the policy of a page to where its forms lead in the end, too. */
  const show = (
    context: Context,
    interaction: Interaction,
    view: (frame: InteractionFrame) => PageView,
    extras?: Extras,
  ): Promise<string> => {
    const { uid, client, redirectUri } = interaction;
    const frame = { paths: pathsOf(hosted, interaction), clientName: client.name };
    const source = formActionSource(redirectUri);
    const leadsTo = source === undefined ? [] : [source];
    const framed = (csrf: string) => ({ ...view({ ...frame, csrf }), leadsTo });
    return hosted.show(context, interaction, interactionSubject(uid), framed, extras);
  };

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
      const { app, tenant, userId, scopes } = interaction;
      const account = named(await userStore(db.sql).get(tenant, app.id, userId));
      return show(context, interaction, (frame) => consentPage({ ...frame, account, scopes }));
    },
  };
}

export const interactionPage = (uid: string): string => `/oauth2/interactions/${uid}`;
/** What the forms of an interaction are bound to. */
export const interactionSubject = (uid: string): string => `interaction ${uid}`;

function pathsOf({ path }: Hosted, { uid, app }: Interaction): InteractionPaths {
  const page = path(interactionPage(uid));
  return {
    page,
    signin: `${page}/signin`,
    signup: `${page}/signup`,
    mfa: `${page}/mfa`,
    send: `${page}/mfa/send`,
    consent: `${page}/consent`,
    abort: `${page}/abort`,
    forgot: `${path('/pages/forgot-password')}?app_id=${encodeURIComponent(app.id)}`,
  };
}

/** By what people know an account. */
const named = ({ id, email, username, phone }: User): string => email ?? username ?? phone ?? id;
