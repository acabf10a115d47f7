import type { Context } from '../../../http/context.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import type { Interactions } from '../oauth/interactions.ts';
import type { Hosted } from '../views/hosted.ts';
import { homeOf, originOf } from '../views/origin.ts';
import type { WayOn } from '../views/parts.ts';
import { interactionPage } from './interaction-views.ts';

/** Where pages lead that belong to no interaction. */
export interface WaysOn {
  /** Back to the sign-in that the browser began, if it still waits. */
  back(context: Context, app: KnownApp): Promise<WayOn | undefined>;
  /** Back to the sign-in if it still waits, otherwise to the client or the app. */
  on(context: Context, app: KnownApp): Promise<WayOn | undefined>;
}

export function waysOn(
  deps: Pick<Deps, 'db' | 'directory' | 'oauthClients'>,
  interactions: Pick<Interactions, 'waits'>,
  hosted: Pick<Hosted, 'path'>,
): WaysOn {
  const originIn = async ({ cookie }: Context, app: KnownApp) => {
    const origin = await originOf(deps, cookie);
    return origin?.app.id === app.id ? origin : undefined;
  };

  async function back(context: Context, app: KnownApp): Promise<WayOn | undefined> {
    const origin = await originIn(context, app);
    if (!origin || !(await interactions.waits(origin.uid))) return undefined;
    return { href: hosted.path(interactionPage(origin.uid)), text: 'Back to sign-in' };
  }

  return {
    back,
    on: async (context, app) =>
      (await back(context, app)) ?? homeOf(deps, app, (await originIn(context, app))?.client),
  };
}
