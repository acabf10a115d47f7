import { randomUUID } from 'node:crypto';
import express from 'express';
import * as oidc from 'openid-client';

const home = process.env.RELYING_PARTY ?? 'http://127.0.0.1:4300';
const issuer = new URL(`${process.env.PLINTH_URL ?? 'http://127.0.0.1:4000'}/auth/v1/auth`);
const { CLIENT_ID, CLIENT_SECRET } = process.env;
if (!CLIENT_ID || !CLIENT_SECRET) {
  console.error('Set CLIENT_ID and CLIENT_SECRET: examples/first-app.ts makes a client and prints them.');
  process.exit(1);
}
const execute = [oidc.allowInsecureRequests]; // Use plain http on your own machine only.
const provider = await oidc.discovery(issuer, CLIENT_ID, CLIENT_SECRET, undefined, { execute });
const verifiers = new Map<string, string>(); // The verifiers of pending sign-ins, by state.
const users = new Map<string, oidc.UserInfoResponse>(); // The signed-in users, by the session in their cookie.
const app = express();

app.get('/', async (request, response) => {
  const user = users.get(/\bsession=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
  if (user) {
    response.type('text').send(`Welcome, ${user.name}! Your address is ${user.email}.\n`);
    return;
  }
  const [state, verifier] = [oidc.randomState(), oidc.randomPKCECodeVerifier()];
  verifiers.set(state, verifier);
  const code_challenge = await oidc.calculatePKCECodeChallenge(verifier);
  const wanted = { redirect_uri: `${home}/callback`, scope: 'openid profile email' };
  const proof = { state, code_challenge, code_challenge_method: 'S256' };
  response.redirect(303, oidc.buildAuthorizationUrl(provider, { ...wanted, ...proof }).href);
});

app.get('/callback', async (request, response) => {
  const callback = new URL(request.url, home);
  const expectedState = callback.searchParams.get('state') ?? '';
  const pkceCodeVerifier = verifiers.get(expectedState);
  // Each sign-in comes back once. When the page is reloaded, the session in the cookie counts.
  if (pkceCodeVerifier !== undefined && verifiers.delete(expectedState)) {
    const checks = { expectedState, pkceCodeVerifier };
    const tokens = await oidc.authorizationCodeGrant(provider, callback, checks);
    const session = randomUUID();
    users.set(session, await oidc.fetchUserInfo(provider, tokens.access_token, tokens.claims()?.sub ?? ''));
    response.cookie('session', session, { httpOnly: true, sameSite: 'lax' });
  }
  response.redirect(303, '/');
});

const { hostname, port } = new URL(home);
app.listen(Number(port), hostname, () => console.log(`Open ${home} in a browser`));
