import type { AppSettings } from '../../../../generated/auth/types.ts';
import type { Database } from '../../../db/index.ts';
import { appStore } from './apps.store.ts';

/** The settings of a new app unless its creation overrides them: the defaults of the contract. */
export const initialSettings: AppSettings = {
  signup_enabled: true,
  require_verified_email: false,
  password_min_length: 8,
  session_ttl: '1h',
  refresh_ttl: '720h',
  max_sessions: 0,
  mfa_trusted_devices: false,
  default_role: 'user',
  allowed_origins: [],
  home_url: null,
  links: { reset_password: null, verify_email: null, invitation: null },
  mail_from: null,
};

/** Creates the app `default` of the tenant `default`, so that `app_id: "default"` works at once. Does nothing if it exists. */
export const ensureFirstApp = (db: Database): Promise<void> =>
  db.transaction(async (sql) => {
    const tenant = 'default';
    const made = await appStore(sql).insertOnce({
      id: 'default',
      tenant_id: tenant,
      name: 'Default app',
      slug: 'default',
      is_default: true,
      settings: initialSettings,
    });
    if (made) await appStore(sql).seedRoles(tenant, 'default');
  });
