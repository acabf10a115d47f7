import type { PhoneVerification } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import { accountStore } from './accounts.store.ts';
import { codeStore, type CodePlace } from './codes.store.ts';
import { assignDefaultRole } from './default-role.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { InvalidCredentials, SignupDisabled } from './errors.ts';
import { formChecker } from './forms.ts';
import { phoneStore } from './phone.store.ts';
import { completeSignin, type CompletedSignin } from './signin.ts';
import { codeMac, phoneMac, textCode } from './text-codes.ts';
import { checkMetadata, cleanPhone } from './text-rules.ts';
import { userStore } from './users.store.ts';
import type { Write } from './writes.ts';

/** Where the code of a number is kept, under a name that does not tell the number. */
const codePlace = ({ sealer }: Deps, { tenant, id }: KnownApp, phone: string): CodePlace => ({
  tenant,
  app: id,
  purpose: 'phone_signin',
  subject: phoneMac(sealer, tenant, phone).toString('hex'),
});

/** Texts a code, whether the number is known or not. Answers until when it is good. @throws Invalid, RateLimited */
export async function sendPhoneCode(deps: Deps, app: KnownApp, sent: string): Promise<string> {
  const phone = cleanPhone(sent);
  const userId = (await phoneStore(deps.db.sql).owner(app.tenant, app.id, phone)) ?? null;
  return deps.write({ tenant: app.tenant, app: app.id, actor: userId ?? 'anonymous' }, async (write) => {
    const code = await textCode(deps, write, app, { to: phone, kind: 'phone_code', userId });
    const place = codePlace(deps, app, phone);
    return codeStore(write.sql).replace(place, codeMac(deps.sealer, app.tenant, place.subject, code));
  });
}

/** Signs in by a number; a new one opens an account. @throws Invalid, Unauthenticated, Forbidden */
export async function signInByPhone(
  deps: Deps,
  app: KnownApp,
  { phone: sent, code, metadata = {} }: PhoneVerification,
  visit: Visit,
): Promise<CompletedSignin> {
  const phone = cleanPhone(sent);
  checkMetadata(metadata);
  const place = codePlace(deps, app, phone);
  const mac = codeMac(deps.sealer, app.tenant, place.subject, code);
  const tag = await deps.directory.tagOf(app.tenant);
  const known = await phoneStore(deps.db.sql).owner(app.tenant, app.id, phone);
  const newUserId = newId('user');
  const author = { tenant: app.tenant, app: app.id, actor: known ?? newUserId };
  const completed = await deps.write(author, async (write) => {
    // First the account, then its code, which is the order of every write that needs both.
    if (known !== undefined) await accountStore(write.sql).lock(app.tenant, app.id, known);
    // Returned and not thrown, because a wrong code is to be counted.
    if (!(await codeStore(write.sql).consume(place, mac))) return undefined;
    const owner = await phoneStore(write.sql).owner(app.tenant, app.id, phone);
    if (owner === undefined) await openAccount(write, app, newUserId, { phone, metadata });
    else await phoneStore(write.sql).verify(app.tenant, app.id, owner);
    const signin = { tag, visit, method: 'phone', isNewUser: owner === undefined } as const;
    return completeSignin(deps, write, app, owner ?? newUserId, signin);
  });
  if (!completed) throw InvalidCredentials();
  return completed;
}

/** What the form refuses takes the consumption of the code back too. */
async function openAccount(
  write: Write,
  app: KnownApp,
  id: string,
  { phone, metadata }: { phone: string; metadata: Record<string, unknown> },
) {
  const { sql, tenant, emit } = write;
  if (!app.settings.signup_enabled) throw SignupDisabled();
  await userStore(sql).insert({
    id,
    tenant_id: tenant,
    app_id: app.id,
    email: null,
    username: null,
    name: null,
    image: null,
    email_verified: false,
    phone,
    phone_verified: true,
    password_hash: null,
    metadata: await formChecker(sql)(app, metadata),
  });
  await assignDefaultRole(write, app, id);
  emit('user.created', id, { user_id: id, email: null });
}
