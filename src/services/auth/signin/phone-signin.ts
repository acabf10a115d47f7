import type { PhoneVerification } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { attempt } from '../factors/trials.ts';
import { codeStore, type CodePlace } from '../factors/codes.store.ts';
import { assignDefaultRole } from '../roles/default-role.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { InvalidCredentials, SignupDisabled } from '../errors.ts';
import { formChecker } from '../apps/forms.ts';
import { phoneStore } from './phone.store.ts';
import { completeSignin, type CompletedSignin } from './signin.ts';
import { codeMac, phoneMac, textCode } from '../factors/text-codes.ts';
import { checkMetadata, cleanPhone } from '../text/text-rules.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** The key of a number's code, which does not reveal the number. */
const codePlace = ({ sealer }: Deps, { tenant, id }: KnownApp, phone: string): CodePlace => ({
  tenant,
  app: id,
  purpose: 'phone_signin',
  subject: phoneMac(sealer, tenant, phone).toString('hex'),
});

/** Texts a code, whether or not the number is known. Returns when it expires. @throws Invalid, RateLimited */
export async function sendPhoneCode(
  deps: Deps,
  app: KnownApp,
  sent: string,
  ip: string | null,
): Promise<string> {
  const phone = cleanPhone(sent);
  const userId = (await phoneStore(deps.db.sql).owner(app.tenant, app.id, phone)) ?? null;
  return deps.write({ tenant: app.tenant, app: app.id, actor: userId ?? 'anonymous' }, async (write) => {
    const code = await textCode(deps, write, app, { to: phone, kind: 'phone_code', userId, ip });
    const place = codePlace(deps, app, phone);
    return codeStore(write.sql).replace(place, codeMac(deps.sealer, app.tenant, place.subject, code));
  });
}

/** Signs in by a number; a new number opens an account. @throws Invalid, Unauthenticated, Forbidden, RateLimited */
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
  const run = () =>
    deps.write(author, async (write) => {
      // The account is locked before its code, as in every write that needs both.
      if (known !== undefined) await accountStore(write.sql).lock(app.tenant, app.id, known);
      // The failure is returned, not thrown, so that the count of the wrong code is committed.
      if (!(await codeStore(write.sql).consume(place, mac))) return undefined;
      const owner = await phoneStore(write.sql).owner(app.tenant, app.id, phone);
      if (owner === undefined) await openAccount(write, app, newUserId, { phone, metadata });
      else await phoneStore(write.sql).verify(app.tenant, app.id, owner);
      const signin = { tag, visit, method: 'phone', isNewUser: owner === undefined } as const;
      return completeSignin(deps, write, app, owner ?? newUserId, signin);
    });
  const account = known === undefined ? undefined : { id: known };
  const claim = { app, identifier: `phone ${place.subject}`, account, visit };
  const completed = await attempt(deps, claim, { forgets: true, run });
  if (!completed) throw InvalidCredentials();
  return completed;
}

/** If the form refuses the metadata, the consumption of the code is rolled back, too. */
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
