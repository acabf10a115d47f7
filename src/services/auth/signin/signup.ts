import type { Signup } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { sendOneTime } from '../messages/account-messages.ts';
import { assignDefaultRole } from '../roles/default-role.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { SignupDisabled } from '../errors.ts';
import { askedBy } from '../../../notify/message-limits.ts';
import { checkNewPassword } from '../factors/password-rules.ts';
import type { Complete } from './signin.ts';
import { checkMetadata, cleanEmail, cleanName, cleanText } from '../text/text-rules.ts';
import { userStore } from '../directory/users.store.ts';

/**
 * Opens an account and signs in, atomically. A message asks for verification of the address, unless it is already proven.
 * @throws Invalid, Forbidden, Conflict, RateLimited
 */
export async function signUp<Completed>(
  deps: Deps,
  app: KnownApp,
  body: Signup & { readonly email_verified?: boolean },
  visit: Visit,
  signal: AbortSignal,
  complete: Complete<Completed>,
): Promise<Completed> {
  const { settings } = app;
  if (!settings.signup_enabled) throw SignupDisabled();
  const profile = cleanProfile(body);
  await checkNewPassword(deps.passwords, body.password, { app, owner: profile, field: 'password', signal });
  const metadata = await deps.checkForm(app, profile.metadata);
  const password_hash = await deps.passwords.hash(body.password, signal);
  const tag = await deps.directory.tagOf(app.tenant);
  const id = newId('user');
  return deps.write({ tenant: app.tenant, app: app.id, actor: id }, async (write) => {
    const { sql, tenant, emit } = write;
    await userStore(sql).insert({
      ...profile,
      metadata,
      id,
      tenant_id: tenant,
      app_id: app.id,
      image: null,
      email_verified: body.email_verified ?? false,
      phone: null,
      phone_verified: false,
      password_hash,
    });
    await assignDefaultRole(write, app, id);
    emit('user.created', id, { user_id: id, email: profile.email });
    const completed = await complete(deps, write, app, id, {
      tag,
      visit,
      method: 'password',
      isNewUser: true,
    });
    // This comes last, because the app's mail counters stay locked until the end of the transaction, and all its sign-ups need them.
    if (!body.email_verified) {
      const asked = askedBy(null, visit.ip);
      await sendOneTime(deps, write, app, tag, 'verify_email', { id, email: profile.email }, asked);
    }
    return completed;
  });
}

function cleanProfile({ email, username = null, name = null, metadata = {} }: Signup) {
  checkMetadata(metadata);
  return {
    email: cleanEmail(email),
    username: username === null ? null : cleanText('username', username),
    name: cleanName('name', name),
    metadata,
  };
}
