import type { Signup } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import { sendOneTime } from './account-messages.ts';
import { assignDefaultRole } from './default-role.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { SignupDisabled } from './errors.ts';
import { checkNewPassword } from './password-rules.ts';
import type { Complete } from './signin.ts';
import { checkMetadata, cleanEmail, cleanName, cleanText } from './text-rules.ts';
import { userStore } from './users.store.ts';

/**
 * Opens an account and signs in: all of it, or nothing. A message asks for the verification of the address, unless it is proven
 * already.
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
  checkNewPassword(body.password, settings.password_min_length, profile, 'password');
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
    if (!body.email_verified)
      await sendOneTime(deps, write, app, tag, 'verify_email', { id, email: profile.email });
    return complete(deps, write, app, id, { tag, visit, method: 'password', isNewUser: true });
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
