import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../lib/errors.ts';
import { checkClient, deviceGrantType, isNative, type ClientProfile } from './client-rules.ts';

const client = (change: Partial<ClientProfile> & { require_pkce?: boolean } = {}) => ({
  redirect_uris: ['https://app.example.com/callback'],
  post_logout_redirect_uris: [],
  scopes: ['openid'],
  grant_types: ['authorization_code' as const],
  audiences: [],
  public: false,
  ...change,
});

/** Returns the message of the refusal; undefined when there is none. */
function refusal(change: Parameters<typeof client>[0]): string | undefined {
  try {
    checkClient(client(change));
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

describe('a redirect URI', () => {
  it.each([
    'https://app.example.com/callback?tenant=a',
    'https://app.example.com',
    'https://app.example.com?tenant=a',
    'https://xn--bcher-kva.example/callback',
    'https://app.example.com:8443/callback%2A',
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
  ])('of any client may be %s', (uri) => {
    expect(refusal({ redirect_uris: [uri] })).toBeUndefined();
    expect(refusal({ redirect_uris: [uri], public: true })).toBeUndefined();
  });

  it('of a public client may have a scheme that is a reversed domain name', () => {
    expect(refusal({ redirect_uris: ['com.example.app:/callback'], public: true })).toBeUndefined();
    expect(refusal({ redirect_uris: ['com.example.app:/callback'] })).toBe(
      'redirect_uris: must be https, or http on a loopback host',
    );
  });

  it.each([
    [
      'http://app.example.com/callback',
      'must be https, http on a loopback host, or a scheme like com.example.app',
    ],
    [
      'http://localhost.example.com/',
      'must be https, http on a loopback host, or a scheme like com.example.app',
    ],
    ['javascript:alert(1)', 'must be https, http on a loopback host, or a scheme like com.example.app'],
    [
      'https://localhost/callback',
      'must be https, http on a loopback host, or a scheme like com.example.app',
    ],
    ['https://app.example.com/#here', 'must not have a fragment'],
    ['https://app.example.com/#', 'must not have a fragment'],
    ['https://user:pass@app.example.com/', 'must not hold credentials'],
    ['https://*.example.com/callback', 'must not hold a wildcard: register each address'],
    ['https://*/callback', 'must not hold a wildcard: register each address'],
    ['https://%2A.example.com/callback', 'must not hold a wildcard: register each address'],
    ['https://app.example.com/*', 'must not hold a wildcard: register each address'],
    ['https://app.example.com/callback?to=*', 'must not hold a wildcard: register each address'],
    ['http://*.localhost/callback', 'must not hold a wildcard: register each address'],
    ['https://APP.example.com/callback', 'must be written as https://app.example.com/callback'],
    ['HTTPS://app.example.com/callback', 'must be written as https://app.example.com/callback'],
    ['https://app.example.com:443/callback', 'must be written as https://app.example.com/callback'],
    ['https://@app.example.com/callback', 'must be written as https://app.example.com/callback'],
    ['https://app.example.com\\callback', 'must be written as https://app.example.com/callback'],
    ['https:app.example.com/callback', 'must be written as https://app.example.com/callback'],
    ['https://app.example.com/a/../callback', 'must be written as https://app.example.com/callback'],
    ['https://b\u00fccher.example/callback', 'must be written as https://xn--bcher-kva.example/callback'],
    ['http://0x7f.1/callback', 'must be written as http://127.0.0.1/callback'],
    ['https://2130706433/callback', 'must be written as https://127.0.0.1/callback'],
    ['https://app.example.com./callback', 'must be written as https://app.example.com/callback'],
    ['/callback', 'must be an absolute URI'],
  ])('may not be %s', (uri, problem) => {
    expect(refusal({ redirect_uris: [uri], public: true })).toBe(`redirect_uris: ${problem}`);
    expect(refusal({ post_logout_redirect_uris: [uri], public: true })).toBe(
      `post_logout_redirect_uris: ${problem}`,
    );
  });
});

describe('a client', () => {
  it.each([
    [{ redirect_uris: [] }, 'redirect_uris: at least one is needed with authorization_code'],
    [
      { grant_types: ['refresh_token' as const] },
      'grant_types: refresh_token needs authorization_code or urn:ietf:params:oauth:grant-type:device_code',
    ],
    [
      { grant_types: ['client_credentials' as const], public: true },
      'grant_types: client_credentials is not for public clients',
    ],
    [{ public: true, require_pkce: false }, 'require_pkce: public clients always use it'],
    [{ audiences: ['not a uri'] }, 'audiences: must be an absolute URI'],
    [{ audiences: ['urn:example:api#part'] }, 'audiences: must not have a fragment'],
  ])('may not be %j', (change, problem) => {
    expect(refusal(change)).toBe(problem);
  });

  it('acts for itself without a redirect URI', () => {
    expect(
      refusal({ redirect_uris: [], grant_types: ['client_credentials'], audiences: ['urn:example:api'] }),
    ).toBeUndefined();
  });

  it('is native where it is public and the browser comes back to a program', () => {
    const own = { redirect_uris: ['com.example.app:/callback'] };
    expect(isNative(client({ ...own, public: true }))).toBe(true);
    expect(isNative(client({ redirect_uris: ['http://127.0.0.1/'], public: true }))).toBe(true);
    expect(isNative(client({ public: true }))).toBe(false);
    expect(isNative(client({ redirect_uris: ['http://127.0.0.1/'] }))).toBe(false);
  });
});

describe('a client for devices', () => {
  const grant_types = [deviceGrantType, 'refresh_token' as const];

  it('needs no redirect URI, and may refresh', () => {
    expect(refusal({ grant_types: [...grant_types], redirect_uris: [], public: true })).toBeUndefined();
  });
});

describe('a client that is told of sign-outs', () => {
  const backchannel_logout_uri = 'https://app.example.com/logout';

  it('has an address where it needs to know which session ended', () => {
    expect(refusal({ backchannel_logout_uri, backchannel_logout_session_required: true })).toBeUndefined();
    expect(refusal({ backchannel_logout_uri })).toBeUndefined();
    expect(refusal({ backchannel_logout_uri: null, backchannel_logout_session_required: true })).toBe(
      'backchannel_logout_session_required: needs a backchannel_logout_uri',
    );
  });
});
