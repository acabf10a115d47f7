import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type {
  ClientInformation,
  DeviceAuthorization,
  IssuedClient,
} from '../../../../generated/auth/types.ts';
import type { ChildServer } from '../../../testing/child-server.ts';
import { newSlug, tools } from './index.ts';
import { codeOf, enrolled, withPhone } from './factors.ts';

/** The actions of a user on the hosted pages, in a browser with or without scripts. */
export interface Journey {
  readonly page: Page;
  readonly place: JourneyPlace;
  /** Called on every page that is reached, with a name for it. */
  readonly stop: (name: string) => Promise<void>;
}

/** A server with a client, and the address of that client. */
export interface JourneyPlace {
  readonly api: ReturnType<typeof tools>;
  /** The base URL of the service. */
  readonly base: string;
  readonly client: IssuedClient;
  readonly callback: string;
  /** The address of the development mailbox. */
  readonly mailbox: string;
  close(): Promise<void>;
}

const password = 'correct horse battery staple';

const fields = [
  {
    key: 'company',
    label: 'Company',
    type: 'text',
    placeholder: 'Analytical Engines',
    order: 1,
    validation: { required: true, max_len: 100 },
  },
  {
    key: 'role',
    label: 'What do you do?',
    type: 'select',
    order: 2,
    options: [
      { label: 'Engineer', value: 'engineer' },
      { label: 'Mathematician', value: 'mathematician' },
    ],
  },
  {
    key: 'size',
    label: 'Size of your team',
    type: 'radio',
    order: 3,
    options: [
      { label: 'Just me', value: '1' },
      { label: '2 to 10', value: '10' },
    ],
  },
  { key: 'about', label: 'About you', type: 'textarea', description: 'A sentence or two.', order: 4 },
  { key: 'news', label: 'Send me news', type: 'switch', order: 5 },
];
/** The account of a user: each has another address. */
const ada = () => ({
  email: `ada+${randomBytes(3).toString('hex')}@example.com`,
  metadata: { company: 'Analytical Engines' },
});

/** A logo, as an app or a client has one. */
const logo = (color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48"><rect width="48" height="48" rx="12" fill="${color}"/><path d="M14 32V22m10 10V14m10 18v-6" stroke="#fff" stroke-width="5" stroke-linecap="round"/></svg>`;

/** Prepares a server for the journeys: a client that responds, an app with a form, and its branding. */
export async function journeyPlace(server: ChildServer, branding?: object): Promise<JourneyPlace> {
  const reports = createServer((req, res) => {
    if (req.url?.endsWith('.svg')) {
      res.setHeader('Content-Type', 'image/svg+xml');
      return void res.end(logo(req.url === '/logo.svg' ? '#0f766e' : '#b45309'));
    }
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end('<!doctype html><html lang="en"><title>Reports</title><h1>Reports</h1></html>');
  });
  await new Promise<void>((resolve) => reports.listen(0, '127.0.0.1', resolve));
  const home = `http://127.0.0.1:${(reports.address() as AddressInfo).port}`;
  const api = tools({ request: (method, path, options) => server.request(method, path.slice(5), options) });
  const client = (await api.send('POST', '/oauth2/clients', {
    body: {
      name: 'Reports',
      ...(branding && { logo_url: `${home}/client.svg` }),
      redirect_uris: [`${home}/callback`],
      post_logout_redirect_uris: [`${home}/bye`],
      scopes: ['openid', 'profile', 'email', 'offline_access', 'reports:read'],
    },
  })) as IssuedClient;
  await api.send('POST', '/forms', { body: { form_type: 'signup', active: true, fields } });
  if (branding) await api.send('POST', '/branding', { body: { logo_url: `${home}/logo.svg`, ...branding } });
  return {
    api,
    base: `${server.url}/v1/auth`,
    client,
    callback: `${home}/callback`,
    mailbox: /http\S+\/dev\/outbox\/page\?key=\S+/.exec(server.stderr())![0],
    close: async () => void reports.close(),
  };
}

/** All journeys by name. Each starts with a fresh browser. */
export const journeys: Readonly<Record<string, (journey: Journey) => Promise<void>>> = {
  async 'sign-up, verification, consent'({ page, place, stop }) {
    const { email } = ada();
    await askForSignin({ page, place });
    await page.getByRole('link', { name: 'Create an account' }).click();
    await stop('sign-up');
    await page.getByLabel('Name', { exact: false }).first().fill('Ada Lovelace');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('password');
    await page.getByLabel('Company').fill('Analytical Engines');
    await page.getByLabel('What do you do?').selectOption('Mathematician');
    await page.getByLabel('Just me').check();
    await page.getByLabel('Send me news').check();
    await press(page, 'Create account');
    await page.getByText('The password is too common: choose several unrelated words.').waitFor();
    await expectFocus(page, 'password');
    await stop('sign-up-refused');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Create account');
    await arrive(page, 'Allow Reports?');
    await stop('consent');
    await press(page, 'Allow');
    await arriveAtClient(page, place, 'code');

    await page.goto(await linkIn(place, email, 'verify_email'));
    await arrive(page, 'Verify your email address');
    await stop('verify-email');
    await press(page, 'Yes, verify it');
    await arrive(page, 'Your email address is verified');
    await stop('email-verified');
    await page.goto(await linkIn(place, email, 'verify_email'));
    await arrive(page, 'This link no longer works');
    await stop('gone');
  },

  async 'sign-in with a second factor, denial'({ page, place, stop }) {
    const { user, enrollment } = await enrolled(place.api, ada());
    await askForSignin({ page, place });
    await stop('sign-in');
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill('not the password');
    await press(page, 'Sign in');
    await stop('sign-in-refused');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Confirm that it is you');
    await stop('second-factor');
    await page.getByText('Use a recovery code instead').click();
    await page.getByLabel('Recovery code').fill('aaaa-aaaa-aaaa');
    await page.getByRole('button', { name: 'Continue' }).last().click();
    await stop('second-factor-refused');
    await page.getByText('Use an authenticator app instead').click();
    await page.getByLabel('Code from your authenticator app').fill(codeOf(enrollment, 1));
    await page.getByRole('button', { name: 'Continue' }).last().click();
    await arrive(page, 'Allow Reports?');
    await press(page, 'Deny');
    await arriveAtClient(page, place, 'error=access_denied');
  },

  async 'a code by text message, for an invitation, too'({ page, place, stop }) {
    const { user, enrollment, ...session } = await enrolled(place.api, ada());
    const phone = await withPhone(place.api, { user, ...session });
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Confirm that it is you');
    await page.getByText('Use a text message instead').click();
    await press(page, 'Text me a code');
    await page.getByText('We texted a code to your phone.').waitFor();
    await stop('second-factor-texted');
    const { code } = await place.api.message(phone, 'mfa_code');
    await page.getByLabel('Code from the text message').fill(code!);
    await page.getByRole('button', { name: 'Continue' }).first().click();
    await arrive(page, 'Allow Reports?');

    const body = { name: 'Difference Engine', slug: newSlug() };
    const { id } = (await place.api.send('POST', '/organizations', { body })) as { id: string };
    await place.api.send('POST', `/organizations/${id}/invitations`, { body: { email: user.email } });
    await page.goto(await linkIn(place, user.email!, 'invitation'));
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await press(page, 'Accept');
    await arrive(page, 'Confirm that it is you');
    await stop('invitation-second-factor');
    await page.getByLabel('Code from your authenticator app').fill(codeOf(enrollment, 1));
    await page.getByRole('button', { name: 'Continue' }).first().click();
    await arrive(page, 'You joined Difference Engine');
  },

  async 'the choice of an account'({ page, place, stop }) {
    const { user } = await place.api.signUp(ada());
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await press(page, 'Allow');
    await arriveAtClient(page, place, 'code');
    await page.goto(signinAt(place, 'select_account'));
    await arrive(page, 'Choose an account');
    await stop('choose-account');
    await press(page, 'Continue');
    await arriveAtClient(page, place, 'code');
  },

  async 'the development mailbox'({ page, place, stop }) {
    await place.api.send('DELETE', '/dev/outbox');
    await place.api.signUp(ada());
    await page.goto(place.mailbox);
    await arrive(page, 'Development mailbox');
    await stop('mailbox');
  },

  async 'a sign-in that is given up'({ page, place, stop }) {
    const address = await askForSignin({ page, place });
    await press(page, 'Cancel');
    await arriveAtClient(page, place, 'error=access_denied');
    await page.goto(address);
    await arrive(page, 'This sign-in has ended');
    await stop('sign-in-over');
  },

  async 'a forgotten password'({ page, place, stop }) {
    const { user } = await place.api.signUp(ada());
    await askForSignin({ page, place });
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    await stop('forgot-password');
    await page.getByLabel('Email').fill(user.email!);
    await press(page, 'Send link');
    await arrive(page, 'Check your email');
    await stop('message-sent');
    await page.goto(await linkIn(place, user.email!, 'reset_password'));
    await stop('reset-password');
    await page.getByLabel('New password', { exact: true }).fill('password');
    await press(page, 'Change password');
    await stop('reset-password-refused');
    await page.getByLabel('New password', { exact: true }).fill('another horse altogether');
    await press(page, 'Change password');
    await arrive(page, 'Your password has been changed');
    await stop('password-changed');
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill('another horse altogether');
    await press(page, 'Sign in');
    await arrive(page, 'Allow Reports?');
  },

  async 'invitations, accepted and declined'({ page, place, stop }) {
    const body = { name: 'Engine Room', slug: newSlug() };
    const { id } = (await place.api.send('POST', '/organizations', { body })) as { id: string };
    const invite = async (email: string) => {
      await place.api.send('POST', `/organizations/${id}/invitations`, { body: { email } });
      await page.goto(await linkIn(place, email, 'invitation'));
      await arrive(page, 'Join Engine Room');
    };
    const { user } = await place.api.signUp(ada());
    await invite(user.email!);
    await stop('invitation-of-an-account');
    await page.getByLabel('Your password', { exact: true }).fill(password);
    await press(page, 'Accept');
    await arrive(page, 'You joined Engine Room');
    await stop('joined');

    await invite(ada().email);
    await stop('invitation-of-somebody-new');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Company').fill('Analytical Engines');
    await press(page, 'Create account and accept');
    await arrive(page, 'You joined Engine Room');

    await invite(ada().email);
    await press(page, 'Decline');
    await arrive(page, 'You declined the invitation');
    await stop('declined');
  },

  async 'connecting a device, and refusing one'({ page, place, stop }) {
    const { user } = await place.api.signUp(ada());
    const television = await askForDevice(place);
    await page.goto(`${place.base}/oauth2/device`);
    await arrive(page, 'Connect a device');
    await stop('device-code');
    await page.getByLabel('Code').fill('BCDF-GHJK');
    await press(page, 'Continue');
    await page.getByText('There is no such code.').waitFor();
    await stop('device-code-refused');
    await page.getByLabel('Code').fill(television.user_code.toLowerCase());
    await press(page, 'Continue');
    await arrive(page, 'Connect Television?');
    await stop('device-confirm');
    await press(page, 'Connect');
    await arrive(page, 'Sign in');
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Allow Television?');
    await press(page, 'Allow');
    await arrive(page, 'Your device is connected');
    await stop('device-connected');
    const other = await askForDevice(place);
    await page.goto(`${place.base}/oauth2/device?user_code=${other.user_code}`);
    await press(page, 'Continue');
    await press(page, 'Not my device');
    await arrive(page, 'The device was not connected');
    await stop('device-refused');
    await page.goto(`${place.base}/oauth2/device/xU4pYQm7nV2kR9sTbC1dE`);
    await arrive(page, 'This sign-in has ended');
    await stop('device-over');
  },

  async 'consent to a client that registered itself'({ page, place, stop }) {
    const body = {
      client_name: 'Notebook',
      redirect_uris: [place.callback],
      token_endpoint_auth_method: 'none',
    };
    const registered = (await place.api.send('POST', '/oauth2/register', { body })) as ClientInformation;
    const { user } = await place.api.signUp(ada());
    const query = new URLSearchParams({
      client_id: registered.client_id,
      response_type: 'code',
      redirect_uri: place.callback,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    await page.goto(`${place.base}/oauth2/authorize?${query.toString()}`);
    await arrive(page, 'Sign in');
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Allow Notebook (unverified)?');
    await stop('consent-unverified');
    await press(page, 'Allow');
    await arriveAtClient(page, place, 'code');
  },

  async 'signing out'({ page, place, stop }) {
    const { user } = await place.api.signUp(ada());
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await press(page, 'Sign in');
    await press(page, 'Allow');
    await arriveAtClient(page, place, 'code');
    await page.goto(`${place.base}/oauth2/logout?client_id=${place.client.id}`);
    await arrive(page, 'Sign out?');
    await stop('sign-out');
    await press(page, 'Sign out');
    await arrive(page, 'You are signed out');
    await stop('signed-out');
    await askForSignin({ page, place });
    const bye = new URL('/bye', place.callback).href;
    const query = new URLSearchParams({
      client_id: place.client.id,
      redirect_uri: bye,
      response_type: 'code',
    });
    await page.goto(`${place.base}/oauth2/authorize?${query.toString()}`);
    await arrive(page, 'This request cannot be completed');
    await stop('provider-error');
  },
};

/** Requests the authorization of a device. */
async function askForDevice({ base, api }: JourneyPlace): Promise<DeviceAuthorization> {
  const body = {
    name: 'Television',
    public: true,
    scopes: ['openid', 'profile', 'offline_access', 'reports:read'],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
  };
  const { client_id } = (await api.send('POST', '/oauth2/clients', { body })) as IssuedClient;
  const form = new URLSearchParams({ client_id });
  const answer = await fetch(`${base}/oauth2/device-authorization`, { method: 'POST', body: form });
  return (await answer.json()) as DeviceAuthorization;
}

/** Goes from the client to the sign-in page. Returns the URL of the page. */
async function askForSignin({ page, place }: Pick<Journey, 'page' | 'place'>): Promise<string> {
  await page.goto(signinAt(place, 'consent'));
  await arrive(page, 'Sign in');
  return page.url();
}

/** The address at which a sign-in begins. */
export function signinAt({ base, client, callback }: JourneyPlace, prompt: string): string {
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid profile email offline_access reports:read',
    prompt,
  });
  return `${base}/oauth2/authorize?${query.toString()}`;
}

/** The link in the newest message. */
async function linkIn(
  { api }: JourneyPlace,
  to: string,
  kind: 'verify_email' | 'reset_password' | 'invitation',
) {
  // Messages about forgotten passwords are created after the response.
  for (let tries = 0; ; tries += 1) {
    const message = await api.message(to, kind).catch(() => undefined);
    const link = /https?:\/\/\S+/.exec(message?.text ?? '')?.[0];
    if (link !== undefined) return link;
    if (tries > 200) throw new Error(`no ${kind} came to ${to}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const arrive = (page: Page, heading: string) =>
  page.getByRole('heading', { level: 1, name: heading }).waitFor();

async function arriveAtClient(page: Page, { callback }: JourneyPlace, said: string): Promise<void> {
  await page.waitForURL((url) => url.href.startsWith(`${callback}?`));
  if (!page.url().includes(said)) throw new Error(`the client was told ${page.url()}, and not ${said}`);
}

/** A browser sets the cursor a moment after the page is there. */
async function expectFocus(page: Page, id: string): Promise<void> {
  await page
    .locator(`[id="${id}"]:focus`)
    .waitFor()
    .catch(async (cause: unknown) => {
      const focused = await page.evaluate<string>('document.activeElement.id');
      throw new Error(`the cursor is in ${focused}, and not in ${id}`, { cause });
    });
}
