import type { Context } from '../../../http/context.ts';
import { Gone } from '../../../lib/errors.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { Interaction, Interactions } from '../oauth/interactions.ts';
import { waitingSignin, type WaitingSignin } from '../signin/challenge-answers.ts';
import type { Hosted } from '../views/hosted.ts';
import { goOn } from '../views/page-answer.ts';
import type { HostedSignin } from './hosted-signin.ts';
import {
  interactionPage,
  interactionSubject,
  interactionViews,
  type InteractionViews,
} from './interaction-views.ts';

/** What every page of an interaction works with, and the steps that it shares with the others. */
export interface InteractionSteps {
  readonly deps: Deps;
  readonly interactions: Interactions;
  readonly hosted: Hosted;
  readonly views: InteractionViews;
  /** @throws Gone if the interaction is over or belongs to another browser */
  readonly enter: (uid: string, context: Context) => Promise<Interaction>;
  /** Like `enter`, for a form. @throws Invalid if the form is not from this interaction's page */
  readonly enterToSend: (uid: string, context: Context, csrf: string) => Promise<Interaction>;
  /** The sign-in of this interaction that waits for its second factor. */
  readonly waitingOf: (context: Context, interaction: Interaction) => Promise<WaitingSignin | undefined>;
  /** Continues as the proven user, or with the second factor. */
  readonly proceed: (
    context: Context,
    interaction: Interaction,
    signin: HostedSignin,
    methods: readonly string[],
  ) => Promise<void>;
}

export function interactionSteps(deps: Deps, interactions: Interactions, hosted: Hosted): InteractionSteps {
  async function enter(uid: string, { cookie }: Context): Promise<Interaction> {
    const interaction = await interactions.find(uid, cookie);
    if (!interaction) throw Gone('interaction: over');
    return interaction;
  }

  return {
    deps,
    interactions,
    hosted,
    views: interactionViews(deps, hosted),
    enter,
    async enterToSend(uid, context, csrf) {
      hosted.check(context, interactionSubject(uid), csrf);
      return enter(uid, context);
    },
    async waitingOf(context, { app }) {
      const token = hosted.challenge.of(context);
      const waiting = token === undefined ? undefined : await waitingSignin(deps, token);
      return waiting?.app.id === app.id ? waiting : undefined;
    },
    async proceed({ reply }, interaction, { result, deviceToken }, methods) {
      const page = interactionPage(interaction.uid);
      if ('mfa_required' in result) {
        const cookies = [hosted.challenge.keep(page, result.challenge_token)];
        return goOn(reply, { location: hosted.path(page), cookies });
      }
      const { location, cookies } = await interactions.signedIn(interaction, result.user.id, methods);
      const own = [...hosted.deviceCookies(deviceToken), hosted.challenge.forget(page)];
      goOn(reply, { location, cookies: [...cookies, ...own] });
    },
  };
}
