import { createPlinth } from '@plinth/sdk';
import { TOTP } from 'otpauth';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
const admin = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '' });
const visitor = createPlinth({ baseUrl });
const as = (session: { session_token: string }) => createPlinth({ baseUrl, token: session.session_token });

// Ada signs up and verifies her address. Messages are not really sent here: the mailbox keeps them. Each run creates another Ada.
const run = Date.now().toString(36);
const account = {
  email: `ada-${run}@example.com`,
  password: 'correct horse battery staple',
  app_id: 'default',
};
await visitor.auth.accounts.signup({ body: { ...account, name: 'Ada Lovelace' } });
const [message] = (await admin.auth.outbox.list({ to: account.email, kind: 'verify_email' })).messages;
await visitor.auth.accounts.verifyEmail({ body: { token: message?.token ?? '' } });
console.log('mail:', message?.subject);

// She signs in, and sets up an authenticator app.
const first = await visitor.auth.accounts.signin({ body: account });
if ('mfa_required' in first) throw new Error('there is no second factor yet');
const ada = as(first);
const { secret, recovery_codes } = await ada.auth.mfa.enroll({ body: { method: 'totp' } });
const authenticator = new TOTP({ secret: secret ?? '' });
await ada.auth.mfa.verify({ body: { code: authenticator.generate() } });

// From now on a sign-in asks for a code. Each code works once, so this is the next one.
const challenge = await visitor.auth.accounts.signin({ body: account });
if (!('mfa_required' in challenge)) throw new Error('a second factor is due');
const code = authenticator.generate({ timestamp: Date.now() + 30_000 });
const { challenge_token } = challenge;
const signedIn = await visitor.auth.mfa.challenge({ body: { challenge_token, method: 'totp', code } });
console.log('signed in:', signedIn.user.name);

// She founds an organization and invites Charles.
const organizations = as(signedIn).auth;
const organization = await organizations.organizations.create({
  body: { name: 'Analytical Engines', slug: `analytical-engines-${run}` },
});
const invitation = await organizations.invitations.create({
  orgId: organization.id,
  body: { email: 'charles@example.com', role: 'admin' },
});
console.log('invited:', invitation.email, 'as', invitation.role);

// The program that signs her in is the relying party of the next step.
const client = await admin.auth.clients.create({
  body: {
    name: 'Reports',
    redirect_uris: [`${process.env.RELYING_PARTY ?? 'http://127.0.0.1:4300'}/callback`],
  },
});
console.log('sign in as', account.email, 'with the password', account.password);
console.log('for an authenticator app:', secret, 'or once instead of a code:', recovery_codes[0]);
console.log(`export CLIENT_ID=${client.client_id} CLIENT_SECRET=${client.client_secret}`);
