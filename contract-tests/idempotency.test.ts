/**
 * Which operations take an `Idempotency-Key`, so that a request that is sent again takes effect once. A POST that does not take it is
 * listed here, with the reason.
 */
import { describe, expect, it } from 'vitest';
import { nameOf } from './contract.ts';
import { servedBy } from './targets.ts';

/** Why a repeated request does no harm without a key. */
const reasons = {
  answers: 'it only answers a question',
  state: 'it leads to a state, and leads to the same one again',
  proof:
    'it spends a code, a token or a link, which counts once, or checks a password and starts another session',
  message: 'it sends a message, at most as often as the limits of messages allow',
  secret:
    'it makes a secret that is shown once, and a repetition makes another one; older ones live on for their grace',
  page: 'a browser sends it as a form, which has no such header',
  own: 'it knows a repetition by an id, a version or a position in its body',
  lease: 'it names the lease that it uses, and a lease ends once',
  remove: 'it removes what is there, and a repetition finds nothing',
  again: 'it asks for one more attempt at something that was kept, whose receiver knows it by its id',
  scan: 'it decides about a text; its record is no bill, and a repetition is one more scan',
  standard: 'its standard knows no such header',
  sender: 'the sender gives each notification an id, by which a repetition is known',
} as const;
type Reason = keyof typeof reasons;

/** The operations that do not take the header, by service and by reason. */
const without: Readonly<Record<string, Partial<Record<Reason, readonly string[]>>>> = {
  audit: {
    answers: ['Events_aggregate', 'Verification_verify'],
    remove: ['Retention_enforce'],
  },
  auth: {
    answers: ['OAuth_introspect', 'OAuth_postUserinfo', 'Tokens_resolve'],
    state: [
      ...[
        'Accounts_signout',
        'Admin_stopImpersonating',
        'Invitations_decline',
        'Me_switchOrg',
        'OAuth_revoke',
      ],
      ...[
        'Roles_assign',
        'Roles_unassign',
        'Sessions_revokeOthers',
        'Users_ban',
        'Users_signoutAll',
        'Users_unban',
      ],
      'Accounts_changePassword',
    ],
    proof: [
      ...[
        'Accounts_resetPassword',
        'Accounts_signin',
        'Accounts_verifyEmail',
        'Me_reauthenticate',
        'Mfa_challenge',
      ],
      ...['Mfa_verify', 'Phone_verify', 'Admin_impersonate'],
    ],
    message: [
      ...['Accounts_forgotPassword', 'Accounts_resendVerification', 'Mfa_sendCode', 'Phone_sendCode'],
      'Webhooks_test',
    ],
    secret: ['Clients_rotateSecret', 'Mfa_regenerate', 'SigningKeys_rotate', 'Webhooks_rotateSecret'],
    again: ['Webhooks_retry'],
    page: [
      ...['DeviceGrant_send', 'OAuth_confirmLogout', 'OAuth_postAuthorize', 'OAuth_postLogout'],
      ...[
        'Pages_abort',
        'Pages_account',
        'Pages_consent',
        'Pages_mfa',
        'Pages_sendCode',
        'Pages_sendForgotPassword',
      ],
      ...['Pages_sendInvitation', 'Pages_sendResetPassword', 'Pages_sendSignup', 'Pages_sendVerifyEmail'],
      'Pages_signin',
    ],
    standard: ['DeviceGrant_authorize', 'OAuth_par', 'OAuth_token'],
  },
  authz: {
    answers: [
      ...['Decisions_batchCheck', 'Decisions_check', 'Decisions_enforce', 'Decisions_explain'],
      ...['Decisions_listObjects', 'Decisions_listSubjects'],
    ],
    state: ['Relations_batch', 'Relations_delete'],
    remove: ['Relations_purge'],
  },
  billing: {
    answers: ['Entitlements_check', 'Entitlements_checkBatch'],
    state: [
      ...['Entitlements_invalidate', 'PaymentMethods_setDefault', 'Payments_cancel', 'Plans_activate'],
      ...['Plans_archive', 'Subscriptions_pause', 'Subscriptions_resume', 'Subscriptions_uncancel'],
    ],
    sender: ['Notifications_billingProvider', 'Notifications_cardProvider'],
  },
  jobs: {
    state: [
      'Crons_disable',
      'Crons_enable',
      'Jobs_cancel',
      'Jobs_cancelMany',
      'Jobs_retry',
      'Runs_cancel',
      'Runs_retry',
    ],
    lease: [
      ...['Jobs_complete', 'Jobs_fail', 'Jobs_snooze', 'Leases_heartbeat', 'Leases_settle'],
      // What is leased to a lost answer is free again when the lease ends.
      'Leases_create',
    ],
    remove: ['Dlq_purge'],
  },
  keys: {
    answers: ['Keys_validate'],
    state: ['Keys_assignScopes', 'Keys_reactivate', 'Keys_revoke', 'Keys_suspend'],
    secret: ['Keys_rotate'],
    own: ['Usage_report'],
  },
  safety: {
    state: ['Policies_assign', 'Policies_unassign'],
    answers: ['Scans_preview', 'Vault_restore'],
    scan: ['Scans_input', 'Scans_output'],
    remove: ['Vault_erase'],
  },
  storage: {
    answers: ['Objects_presign'],
    remove: ['Objects_deleteMany'],
    own: ['Uploads_complete', 'Uploads_copyPart'],
  },
  sync: {
    answers: ['Changes_pull'],
    state: ['Presence_update'],
    own: ['Changes_push'],
  },
  webhooks: {
    again: ['Deliveries_retry'],
    secret: ['Endpoints_rotateSecret'],
    remove: ['Dlq_purge'],
  },
};

const listed = Object.entries(without).flatMap(([service, byReason]) =>
  Object.values(byReason).flatMap((ids) => ids.map((id) => `${service}.${id}`)),
);
const posts = servedBy('server').filter(({ verb }) => verb === 'POST');
const takesKey = ({ repeatable, parameters }: (typeof posts)[number]): boolean =>
  repeatable === true || parameters.some(({ name }) => name === 'Idempotency-Key');

describe('an Idempotency-Key', () => {
  it('is taken by every POST, but for those that are listed with a reason', () => {
    const missing = posts.filter((one) => !takesKey(one)).map(nameOf);
    expect(missing.filter((name) => !listed.includes(name))).toEqual([]);
    const of = new Set(posts.map(({ service }) => service));
    const ofServed = listed.filter((name) => of.has(name.split('.', 1)[0] as never));
    expect(ofServed.filter((name) => !missing.includes(name))).toEqual([]);
  });

  it('is taken by every operation of billing that moves money or counts', () => {
    const moving = posts
      .filter(({ service }) => service === 'billing')
      .filter(takesKey)
      .map(({ id }) => id);
    expect(moving.sort()).toEqual([
      ...['Coupons_create', 'Coupons_redeem', 'Customers_create', 'Customers_credit', 'Invoices_create'],
      ...[
        'Invoices_finalize',
        'Invoices_pay',
        'Invoices_void',
        'Meter_record',
        'Meter_recordBatch',
        'Meter_void',
      ],
      ...[
        'PaymentMethods_create',
        'Payments_create',
        'Payments_refund',
        'Plans_create',
        'Subscriptions_cancel',
      ],
      ...['Subscriptions_changePlan', 'Subscriptions_create', 'TaxRates_create'],
    ]);
  });

  it('is listed once for each operation, for reasons that are used', () => {
    expect(new Set(listed).size).toBe(listed.length);
    const used = new Set(Object.values(without).flatMap((byReason) => Object.keys(byReason)));
    expect(Object.keys(reasons).filter((reason) => !used.has(reason))).toEqual([]);
  });
});
