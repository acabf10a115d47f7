import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type {
  ClientInformation,
  DeviceAuthorization,
  IssuedClient,
} from '../../../../generated/auth/types.ts';
import type { ChildServer } from '../../../testing/child-server.ts';
import { newEmail, newSlug, tools } from './index.ts';
import { codeOf, enrolled } from './factors.ts';

/** The actions of a user on the hosted pages, in a browser without scripts. */
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
const metadata = { company: 'Analytical Engines' };

/** Prepares a server for the journeys: a client that responds, an app with a form, and its branding. */
export async function journeyPlace(server: ChildServer, branding?: object): Promise<JourneyPlace> {
  const reports = createServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end('<!doctype html><html lang="en"><title>Reports</title><h1>Reports</h1></html>');
  });
  await new Promise<void>((resolve) => reports.listen(0, '127.0.0.1', resolve));
  const home = `http://127.0.0.1:${(reports.address() as AddressInfo).port}`;
  const api = tools({ request: (method, path, options) => server.request(method, path.slice(5), options) });
  const client = (await api.send('POST', '/oauth2/clients', {
    body: {
      name: 'Reports',
      redirect_uris: [`${home}/callback`],
      post_logout_redirect_uris: [`${home}/bye`],
      scopes: ['openid', 'profile', 'email', 'offline_access', 'reports:read'],
    },
  })) as IssuedClient;
  await api.send('POST', '/forms', { body: { form_type: 'signup', active: true, fields } });
  if (branding) await api.send('POST', '/branding', { body: branding });
  return {
    api,
    base: `${server.url}/v1/auth`,
    client,
    callback: `${home}/callback`,
    close: async () => void reports.close(),
  };
}

/** All journeys by name. Each starts with a fresh browser. */
export const journeys: Readonly<Record<string, (journey: Journey) => Promise<void>>> = {
  async 'sign-up, verification, consent'({ page, place, stop }) {
    const email = newEmail();
    await askForSignin({ page, place });
    await page.getByRole('link', { name: 'Create an account' }).click();
    await stop('sign-up');
    await page.getByLabel('Name', { exact: false }).first().fill('Ada Lovelace');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('password');
    await page.getByLabel('Company').fill('Analytical Engines');
    await page.getByLabel('What do you do?').selectOption('Mathematician');
    await page.getByLabel('Just me').check();
    await page.getByLabel('Send me news').check();
    await press(page, 'Create account');
    await page
      .getByText('Is too common: choose several words that have nothing to do with each other.')
      .waitFor();
    await expectFocus(page, 'Password');
    await stop('sign-up-refused');
    await page.getByLabel('Password').fill(password);
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
    await arrive(page, 'This link is no longer good');
    await stop('gone');
  },

  async 'sign-in with a second factor, denial'({ page, place, stop }) {
    const { user, enrollment } = await enrolled(place.api, { metadata });
    await askForSignin({ page, place });
    await stop('sign-in');
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password').fill('not the password');
    await press(page, 'Sign in');
    await stop('sign-in-refused');
    await page.getByLabel('Password').fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Confirm that it is you');
    await stop('second-factor');
    await page.getByText('Use a recovery code instead').click();
    await page.getByLabel('Recovery code').fill('aaaa-aaaa-aaaa');
    await page.getByRole('button', { name: 'Continue' }).last().click();
    await stop('second-factor-refused');
    await page.getByText('Use an authenticator app instead').click();
    await page.getByLabel('Code of your authenticator app').fill(codeOf(enrollment, 1));
    await page.getByRole('button', { name: 'Continue' }).last().click();
    await arrive(page, 'Allow Reports?');
    await press(page, 'Deny');
    await arriveAtClient(page, place, 'error=access_denied');
  },

  async 'a sign-in that is given up'({ page, place, stop }) {
    const address = await askForSignin({ page, place });
    await press(page, 'Cancel');
    await arriveAtClient(page, place, 'error=access_denied');
    await page.goto(address);
    await arrive(page, 'This sign-in is over');
    await stop('sign-in-over');
  },

  async 'a forgotten password'({ page, place, stop }) {
    const { user } = await place.api.signUp({ metadata });
    await askForSignin({ page, place });
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await stop('forgot-password');
    await page.getByLabel('Email').fill(user.email!);
    await press(page, 'Send the link');
    await arrive(page, 'Look into your mail');
    await stop('message-sent');
    await page.goto(await linkIn(place, user.email!, 'reset_password'));
    await stop('reset-password');
    await page.getByLabel('New password').fill('password');
    await press(page, 'Change password');
    await stop('reset-password-refused');
    await page.getByLabel('New password').fill('another horse altogether');
    await press(page, 'Change password');
    await arrive(page, 'Your password is changed');
    await stop('password-changed');
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password').fill('another horse altogether');
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
    const { user } = await place.api.signUp({ metadata });
    await invite(user.email!);
    await stop('invitation-of-an-account');
    await page.getByLabel('Your password').fill(password);
    await press(page, 'Accept');
    await arrive(page, 'You joined Engine Room');
    await stop('joined');

    await invite(newEmail());
    await stop('invitation-of-somebody-new');
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Company').fill('Analytical Engines');
    await press(page, 'Create account and accept');
    await arrive(page, 'You joined Engine Room');

    await invite(newEmail());
    await press(page, 'Decline');
    await arrive(page, 'You declined');
    await stop('declined');
  },

  async 'connecting a device, and refusing one'({ page, place, stop }) {
    const { user } = await place.api.signUp({ metadata });
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
    await page.getByLabel('Password').fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Allow Television?');
    await press(page, 'Allow');
    await arrive(page, 'Your device is connected');
    await stop('device-connected');
    const other = await askForDevice(place);
    await page.goto(`${place.base}/oauth2/device?user_code=${other.user_code}`);
    await press(page, 'Continue');
    await press(page, 'It is not mine');
    await arrive(page, 'The device was not connected');
    await stop('device-refused');
    await page.goto(`${place.base}/oauth2/device/xU4pYQm7nV2kR9sTbC1dE`);
    await arrive(page, 'This sign-in is over');
    await stop('device-over');
  },

  async 'consent to a client that registered itself'({ page, place, stop }) {
    const body = {
      client_name: 'Notebook',
      redirect_uris: [place.callback],
      token_endpoint_auth_method: 'none',
    };
    const registered = (await place.api.send('POST', '/oauth2/register', { body })) as ClientInformation;
    const { user } = await place.api.signUp({ metadata });
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
    await page.getByLabel('Password').fill(password);
    await press(page, 'Sign in');
    await arrive(page, 'Allow Notebook (unverified)?');
    await stop('consent-unverified');
    await press(page, 'Allow');
    await arriveAtClient(page, place, 'code');
  },

  async 'signing out'({ page, place, stop }) {
    const { user } = await place.api.signUp({ metadata });
    await askForSignin({ page, place });
    await page.getByLabel('Email or username').fill(user.email!);
    await page.getByLabel('Password').fill(password);
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
    await arrive(page, 'This request cannot be carried out');
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
  const query = new URLSearchParams({
    client_id: place.client.id,
    response_type: 'code',
    redirect_uri: place.callback,
    scope: 'openid profile email offline_access reports:read',
    prompt: 'consent',
  });
  await page.goto(`${place.base}/oauth2/authorize?${query.toString()}`);
  await arrive(page, 'Sign in');
  return page.url();
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

async function expectFocus(page: Page, label: string): Promise<void> {
  const id = await page.getByLabel(label).getAttribute('id');
  const focused = await page.evaluate<string>('document.activeElement.id');
  if (focused !== id) throw new Error(`the cursor is in ${focused}, and not in ${label}`);
}
