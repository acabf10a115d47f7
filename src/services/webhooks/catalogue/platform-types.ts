/** The events that the services of the platform emit, by the service that does. */
const emitted = {
  auth: [
    ...[
      'user.created',
      'user.updated',
      'user.deleted',
      'user.email_verified',
      'user.banned',
      'user.unbanned',
    ],
    ...['auth.signin', 'auth.signin_failed', 'auth.signout', 'auth.password_reset', 'auth.password_changed'],
    ...['auth.refresh_reused', 'auth.mfa_challenged', 'auth.mfa_enabled', 'auth.mfa_disabled'],
    ...['auth.impersonated', 'auth.session.created', 'auth.session.revoked'],
    ...['auth.device.registered', 'auth.device.trusted', 'auth.role.created', 'auth.role.updated'],
    ...['auth.role.deleted', 'auth.role.assigned', 'auth.role.unassigned', 'auth.organization.created'],
    ...['auth.organization.updated', 'auth.organization.deleted', 'auth.organization.member_added'],
    ...['auth.organization.member_updated', 'auth.organization.member_removed', 'auth.organization.invited'],
    ...['auth.client.created', 'auth.client.updated', 'auth.client.deleted', 'auth.consent.granted'],
    ...['auth.consent.revoked', 'auth.app.created', 'auth.app.updated', 'auth.app.deleted'],
    ...['auth.signing_key.rotated', 'auth.webhook.test'],
  ],
  authz: [
    ...['authz.role.created', 'authz.role.updated', 'authz.role.deleted', 'authz.permission.created'],
    ...['authz.permission.deleted', 'authz.permission.attached', 'authz.permission.detached'],
    ...['authz.assignment.created', 'authz.assignment.deleted', 'authz.assignment.expired'],
    ...['authz.relation.written', 'authz.relation.deleted', 'authz.relation.expired'],
    ...['authz.relations.changed', 'authz.policy.created', 'authz.policy.updated', 'authz.policy.deleted'],
    ...['authz.resource_type.created', 'authz.resource_type.updated', 'authz.resource_type.deleted'],
  ],
  keys: [
    ...['keys.key.created', 'keys.key.updated', 'keys.key.deleted', 'keys.key.expired', 'keys.key.expiring'],
    ...['keys.key.grace_ended', 'keys.key.rate_limited', 'keys.key.reactivated', 'keys.key.revoked'],
    ...['keys.key.rotated', 'keys.key.scopes_changed', 'keys.key.suspended', 'keys.policy.created'],
    ...['keys.policy.updated', 'keys.policy.deleted', 'keys.scope.created', 'keys.scope.deleted'],
  ],
  jobs: [
    ...['jobs.job.failed', 'jobs.job.cancelled', 'jobs.dlq.replayed', 'jobs.dlq.purged', 'jobs.cron.created'],
    ...['jobs.cron.updated', 'jobs.cron.enabled', 'jobs.cron.disabled', 'jobs.cron.deleted'],
    ...['jobs.workflow.completed', 'jobs.workflow.failed', 'jobs.queue.updated'],
  ],
  webhooks: [
    ...['webhooks.event_type.registered', 'webhooks.event_type.deprecated', 'webhooks.endpoint.created'],
    ...['webhooks.endpoint.updated', 'webhooks.endpoint.enabled', 'webhooks.endpoint.disabled'],
    ...['webhooks.endpoint.deleted', 'webhooks.endpoint.secret_rotated', 'webhooks.delivery.failed'],
    ...['webhooks.dlq.replayed', 'webhooks.dlq.purged'],
  ],
  audit: [
    ...['audit.erasure.completed', 'audit.integrity.failed', 'audit.report.created'],
    ...['audit.retention.enforced'],
  ],
  safety: [
    ...['instinct', 'awareness', 'boundary', 'value', 'judgment', 'reflex', 'profile', 'policy'].flatMap(
      (kind) => ['created', 'updated', 'deleted'].map((verb) => `safety.${kind}.${verb}`),
    ),
    ...['safety.policy.assigned', 'safety.policy.unassigned', 'safety.scan.blocked', 'safety.scan.flagged'],
    ...['safety.scan.redacted', 'safety.alert.raised', 'safety.escalation.raised', 'safety.vault.restored'],
    ...['safety.vault.erased'],
  ],
  storage: [
    ...['storage.bucket.created', 'storage.bucket.updated', 'storage.bucket.deleted'],
    ...['storage.object.created', 'storage.object.updated', 'storage.object.deleted'],
    ...['storage.upload.created', 'storage.upload.completed', 'storage.upload.aborted'],
    ...['storage.upload.expired', 'storage.cas.stored', 'storage.cas.deleted', 'storage.blob.damaged'],
    ...['storage.quota.exceeded', 'storage.s3_credential.created', 'storage.s3_credential.deleted'],
  ],
  sync: [
    ...['sync.changes.pushed', 'sync.node.claimed', 'sync.node.resync_required'],
    ...['sync.tombstones.forgotten'],
  ],
  billing: [
    ...['billing.plan.created', 'billing.plan.updated', 'billing.plan.activated', 'billing.plan.archived'],
    ...['billing.plan.deleted', 'billing.customer.created', 'billing.customer.updated'],
    ...['billing.customer.deleted', 'billing.customer.balance_changed', 'billing.coupon.redeemed'],
    ...['billing.subscription.created', 'billing.subscription.updated', 'billing.subscription.trial_ending'],
    ...[
      'billing.subscription.activated',
      'billing.subscription.renewed',
      'billing.subscription.plan_changed',
    ],
    ...['billing.subscription.paused', 'billing.subscription.resumed', 'billing.subscription.past_due'],
    ...['billing.subscription.canceled', 'billing.subscription.expired', 'billing.event.voided'],
    ...['billing.invoice.created', 'billing.invoice.finalized', 'billing.invoice.incomplete'],
    ...['billing.invoice.paid', 'billing.invoice.past_due', 'billing.invoice.voided'],
    ...['billing.invoice.payment_failed', 'billing.payment.created', 'billing.payment.succeeded'],
    ...['billing.payment.failed', 'billing.payment.refunded', 'billing.payment.canceled'],
    ...['billing.payment.unapplied', 'billing.payment_method.attached', 'billing.payment_method.detached'],
    ...['billing.payment_method.default_changed'],
  ],
};

/** A type that the platform itself sends. */
export interface PlatformType {
  readonly name: string;
  readonly description: string;
}

/** All of them, which the operator may send although they are not registered. */
export const platformTypes: readonly PlatformType[] = Object.entries(emitted).flatMap(([service, names]) =>
  names.map((name) => ({ name, description: `Sent by the service ${service} of the platform.` })),
);

const names: ReadonlySet<string> = new Set(platformTypes.map(({ name }) => name));

export const isPlatformType = (name: string): boolean => names.has(name);
