/** Requests that the hosted pages accept for processing: they come from a browser that was shown the page, with the values from it. */
import type { Operation } from '../../generated/operations.ts';
import type { SignedUp, Tenant } from '../harness.ts';
import { isObject } from '../coherence.ts';
import { exampleBody, exampleRequest, type WireRequest } from '../requests.ts';
import { openBrowser, type Shown } from './browser.ts';
import { messageTo, newEmail } from './people.ts';

const callback = 'https://reports.example.com/callback';

/** Opens every page as a visitor who has to sign in and who received the messages to `ada`. */
export async function shownPages(
  tenant: Tenant,
  ada: SignedUp,
): Promise<(operation: Operation) => WireRequest> {
  const browser = openBrowser(tenant.anonymous());
  const { id } = await tenant.plinth.auth.clients.create({
    body: { name: 'Reports', redirect_uris: [callback] },
  });
  const query = new URLSearchParams({ client_id: id, response_type: 'code', redirect_uri: callback });
  const signin = await browser.follow(await browser.open(`/oauth2/authorize?${query.toString()}`));
  const [, uid = ''] = /interactions\/([\w-]+)\/signin/.exec(signin.text) ?? [];
  const tokens = await tokensOf(tenant, ada);
  const pages = new Map<string, Shown>();
  for (const [page, token] of Object.entries(tokens))
    pages.set(page, await browser.open(`/pages/${page}?token=${token}`));
  pages.set('forgot-password', await browser.open('/pages/forgot-password'));

  return (operation) => {
    const [, page = ''] = /\/pages\/([\w-]+)$/.exec(operation.path) ?? [];
    const token = tokens[page];
    const named = token === undefined ? {} : { token };
    const example = exampleBody(operation);
    const body = isObject(example)
      ? { ...example, ...named, csrf: csrfOf(pages.get(page) ?? signin) }
      : undefined;
    const { path, init } = exampleRequest(operation, { parameters: { uid, ...named }, body });
    return { path, init: { ...init, headers: { ...init.headers, cookie: browser.cookieFor(path) } } };
  };
}

/** Returns the tokens from messages, by the page to which they lead. */
async function tokensOf(tenant: Tenant, ada: SignedUp): Promise<Readonly<Record<string, string>>> {
  const { email, appId: app_id } = ada;
  await tenant.anonymous().plinth.auth.accounts.forgotPassword({ body: { email, app_id } });
  const invited = newEmail();
  const { auth } = ada.plinth;
  const { id: orgId } = await auth.organizations.create({ body: { name: 'Engines', slug: 'engines' } });
  await auth.invitations.create({ orgId, body: { email: invited } });
  const messages = {
    'verify-email': await messageTo(tenant, email, 'verify_email'),
    'reset-password': await messageTo(tenant, email, 'reset_password'),
    invitation: await messageTo(tenant, invited, 'invitation'),
  };
  return Object.fromEntries(Object.entries(messages).map(([page, { token }]) => [page, token ?? '']));
}

const csrfOf = ({ text }: Shown): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
