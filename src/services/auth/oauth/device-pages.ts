import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Deps } from './access/deps.ts';
import { scopesIn } from '../roles/granted-scopes.ts';
import { showInLook } from './oidc-pages.ts';
import {
  deviceCodePage,
  deviceConfirmPage,
  deviceConnectedPage,
  deviceGonePage,
  deviceRefusedPage,
  deviceStalePage,
} from '../views/device-page.ts';
import type { Problems } from '../views/problems.ts';
import { shownUserCode } from '../directory/user-codes.ts';

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;
type PageDeps = Pick<Deps, 'db' | 'directory' | 'oauthClients'>;

/** How users find and confirm the device that asks. The alphabet of the codes has no vowels and no digits. */
export const deviceFlow = (deps: PageDeps): DeviceFlow => ({
  enabled: true,
  charset: 'base-20',
  mask: '****-****',
  deviceInfo: ({ ip }) => ({ ip }),
  userCodeInputSource: (ctx, _form, out, thrown) => showInput(deps, ctx, out, thrown),
  userCodeConfirmSource: (ctx, _form, client, deviceInfo, userCode) => {
    const scope = ctx.oidc.entities.DeviceCode?.params?.['scope'];
    const { ip } = deviceInfo;
    return showInLook(
      deps,
      ctx,
      deviceConfirmPage({
        ...frameOf(ctx),
        userCode,
        clientName: client.clientName ?? client.clientId,
        scopes: scopesIn(typeof scope === 'string' ? scope : undefined),
        askedFrom: typeof ip === 'string' ? ip : undefined,
      }),
    );
  },
  successSource: (ctx) =>
    showInLook(deps, ctx, deviceConnectedPage(ctx.oidc.client?.clientName ?? 'The device')),
});

/** Asks for a code, and shows the problem with the previous one. */
export async function showInput(
  deps: PageDeps,
  ctx: KoaContextWithOIDC,
  out?: { readonly error?: string },
  thrown?: unknown,
): Promise<void> {
  // The service's error page reports internal failures.
  if (ctx.status >= 500) return;
  const name = thrown instanceof Error ? thrown.name : '';
  if (name === 'AbortedError') {
    ctx.status = 200;
    return showInLook(deps, ctx, deviceRefusedPage(startOf(ctx)));
  }
  if (out !== undefined) ctx.status = 400;
  const isStranger = out !== undefined && leaveStranger(ctx);
  if (ctx.oidc.route === 'device_resume') return showInLook(deps, ctx, deviceGonePage(startOf(ctx)));
  if (isStranger) return showInLook(deps, ctx, deviceStalePage(startOf(ctx)));
  const typed = ctx.oidc.params?.['user_code'];
  const userCode = typeof typed === 'string' ? shownUserCode(typed) : '';
  const problems = out && problemsOf(name);
  await showInLook(deps, ctx, deviceCodePage({ ...frameOf(ctx), userCode, problems }));
}

/**
 * Whether the browser came without a session and was given none, so that a form would be refused again. Clears the session's
 * `touched` flag: the library would otherwise fail to save a session that it never started.
 */
function leaveStranger({ oidc: { session } }: KoaContextWithOIDC): boolean {
  if (session === undefined || session.exp !== undefined) return false;
  Reflect.set(session, 'touched', false);
  return true;
}

/** The path of the page where users enter a code. */
const startOf = (ctx: KoaContextWithOIDC) => new URL(ctx.oidc.urlFor('code_verification')).pathname;

const frameOf = (ctx: KoaContextWithOIDC) => ({
  action: startOf(ctx),
  xsrf: (ctx.oidc.session!.state as { readonly secret: string }).secret,
});

/** Translates the library's errors for users. */
function problemsOf(name: string): Problems {
  const field = fieldProblems[name];
  if (field !== undefined)
    return { status: 400, summary: undefined, fields: { user_code: field }, retryAfter: undefined };
  return {
    status: 400,
    summary: 'This page was out of date. Send the code once more.',
    fields: {},
    retryAfter: undefined,
  };
}

const fieldProblems: Readonly<Record<string, string>> = {
  NoCodeError: 'Enter the code.',
  NotFoundError: 'There is no such code. Compare it with the one on your device.',
  ExpiredError: 'This code has expired. Ask your device for a new one.',
  AlreadyUsedError: 'This code has already been used. Ask your device for a new one.',
};
