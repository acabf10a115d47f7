import type { DeviceAuthorization, IssuedClient } from '../../../../generated/auth/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { sha256 } from '../directory/tokens.ts';
import { password } from './index.ts';
import { oauthTools } from './oauth.ts';
import { formsOf, type Seen, type TestBrowser } from './pages.ts';

export const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';

type Code = Pick<DeviceAuthorization, 'device_code'>;
type Client = Pick<IssuedClient, 'client_id'>;

/** Types a code, and goes to the page that shows the device. */
export const typed = async (browser: TestBrowser, user_code: string): Promise<Seen> =>
  browser.submit(await browser.open('/oauth2/device'), '/oauth2/device', { user_code });

/** Presses one of the two buttons of the page that shows the device. */
export async function decided(
  browser: TestBrowser,
  page: Seen,
  decision: 'confirm' | 'abort',
): Promise<Seen> {
  const form = formsOf(page).find(({ carried }) => carried[decision] === 'yes')!;
  return browser.follow(await browser.post(form.action, form.carried));
}

/**
 * Helpers for the tests of devices.
 * @param at returns the server once it runs
 * @param usual returns the client whose device it is unless another is named
 */
export function deviceTools(at: () => TestServer, usual: () => Client) {
  const api = () => oauthTools(at());

  /** Forgets the earlier polls of one device, as if time had passed. Only its own row is locked, so many may do so at once. */
  const forgetPolls = ({ device_code }: Code) => at().db.sql`
    update auth.oidc set polled_at = null, poll_seconds = null
    where model = 'DeviceCode' and id_hash = ${sha256(device_code)}`;

  async function pollAtOnce({ device_code }: Code, { client_id } = usual()) {
    const { status, body } = await api().post('/oauth2/token', { grant_type, device_code, client_id });
    return [status, body] as [number, { error?: string; access_token?: string; refresh_token?: string }];
  }

  return {
    forgetPolls,
    pollAtOnce,
    /** A client for devices. */
    device: (body: object = {}): Promise<IssuedClient> =>
      api().send('POST', '/oauth2/clients', {
        body: {
          name: 'Television',
          public: true,
          scopes: ['openid', 'profile', 'email', 'offline_access', 'reports:read'],
          grant_types: [grant_type, 'refresh_token'],
          ...body,
        },
      }),
    /** The response to a device that requests an authorization. */
    begin: async ({ client_id } = usual(), more: Record<string, string> = {}) => {
      const { status, body } = await api().post('/oauth2/device-authorization', { client_id, ...more });
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body as DeviceAuthorization;
    },
    /** One poll of the device at the token endpoint, as if it had waited before. */
    poll: async (code: Code, client = usual()) => {
      await forgetPolls(code);
      return pollAtOnce(code, client);
    },
    /** Connects the device as this user, who signs in and consents. */
    connect: async (
      browser: TestBrowser,
      { user_code }: DeviceAuthorization,
      email: string,
    ): Promise<Seen> => {
      const signin = await decided(browser, await typed(browser, user_code), 'confirm');
      const consent = await browser.follow(
        await browser.submit(signin, '/signin', { identifier: email, password }),
      );
      return browser.follow(await browser.submit(consent, '/consent'));
    },
  };
}
