import type { Pages } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { Interaction, Interactions } from '../oauth/interactions.ts';
import type { Hosted } from '../views/hosted.ts';
import { goOn } from '../views/page-answer.ts';
import { factorForms } from './interaction-factor.ts';
import { signinForms } from './interaction-signin.ts';
import { interactionSteps, type InteractionSteps } from './interaction-steps.ts';
import type { SignedIn } from './interaction-views.ts';

type InteractionPages = Pick<
  Pages<Context>,
  'interaction' | 'signin' | 'signup' | 'sendSignup' | 'mfa' | 'sendCode' | 'account' | 'consent' | 'abort'
>;

/** The pages of an authorization that waits for the user: sign-in, second factor, sign-up and consent. */
export const interactionPages = (
  deps: Deps,
  interactions: Interactions,
  hosted: Hosted,
): InteractionPages => {
  const steps = interactionSteps(deps, interactions, hosted);
  return { ...entrance(steps), ...signinForms(steps), ...factorForms(steps), ...decisions(steps) };
};

/** The page that an interaction begins with, and returns to: it shows whatever the user has to do next. */
const entrance = ({ views, enter, waitingOf }: InteractionSteps): Pick<InteractionPages, 'interaction'> => ({
  async interaction({ uid, switch_account = false }, context) {
    const interaction = await enter(uid, context);
    if (isSignedIn(interaction) && !switch_account) {
      if (interaction.prompt === 'consent') return views.consent(context, interaction);
      if (interaction.prompt === 'select_account') return views.account(context, interaction);
    }
    const waiting = switch_account ? undefined : await waitingOf(context, interaction);
    if (waiting) return views.mfa(context, interaction, waiting);
    return views.signin(context, interaction, interaction.loginHint ?? '');
  },
});

/** What a signed-in user decides about the client's request. */
const decisions = ({
  interactions,
  enterToSend,
}: InteractionSteps): Pick<InteractionPages, 'account' | 'consent' | 'abort'> => ({
  async account({ uid, body: { csrf } }, context) {
    const interaction = await enterToSend(uid, context, csrf);
    if (!isSignedIn(interaction) || interaction.prompt !== 'select_account')
      throw Invalid('interaction: waits for a sign-in');
    goOn(context.reply, await interactions.selected(interaction));
  },

  async consent({ uid, body: { csrf } }, context) {
    const interaction = await enterToSend(uid, context, csrf);
    if (!isSignedIn(interaction) || interaction.prompt !== 'consent')
      throw Invalid('interaction: waits for a sign-in');
    goOn(context.reply, await interactions.consented(interaction));
  },

  async abort({ uid, body: { csrf } }, context) {
    const interaction = await enterToSend(uid, context, csrf);
    goOn(context.reply, await interactions.aborted(interaction));
  },
});

/** A user who was banned meanwhile is no longer signed in and cannot decide. */
const isSignedIn = (interaction: Interaction): interaction is SignedIn =>
  interaction.prompt !== 'login' && interaction.userId !== null;
