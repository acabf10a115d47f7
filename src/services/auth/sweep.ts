import type { Database } from '../../db/index.ts';
import { quotas } from '../../db/quotas.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { messageStore } from '../../notify/messages.store.ts';
import { challengeStore } from './signin/challenges.store.ts';
import { throttles } from './factors/trials.ts';
import { deliveryStore } from './webhooks/deliveries.store.ts';
import { deviceGrantStore } from './oauth/device-grant.store.ts';
import { endedSessionStore } from './sessions/ended-sessions.store.ts';
import { enrollmentStore } from './factors/enrollments.store.ts';
import { logoutStore } from './oauth/backchannel-logout.store.ts';
import { messageTable } from './messages/messages.store.ts';
import { oidcStore } from './directory/oidc.store.ts';
import { oneTimeStore } from './directory/one-time.store.ts';
import { noticeSeconds } from './directory/account-changes.ts';
import { securityNoticeStore } from './sessions/security-notices.store.ts';

/**
 * Deletes old failures, expired tokens and challenges, unverified factors, counts of messages and notices, messages older than a
 * week, expired records of the OAuth provider, logout notifications that clients did not accept within days, the secrets of ended
 * sessions, and those sessions after 30 days.
 */
export const remainsSweep = ({ sql }: Pick<Database, 'sql'>): Sweep => ({
  name: 'auth.sweep',
  everyMs: 10 * 60_000,
  batch: 1_000,
  steps: [
    (batch) => throttles.sweep(sql, batch),
    (batch) => oneTimeStore(sql).forget(batch),
    (batch) => challengeStore(sql).forget(batch),
    (batch) => enrollmentStore(sql).forget(batch),
    (batch) => quotas('auth').sweep(sql, batch),
    (batch) => securityNoticeStore(sql).forget(batch, noticeSeconds),
    (batch) => messageStore(sql, messageTable).prune(batch),
    (batch) => oidcStore(sql).forget(batch),
    (batch) => logoutStore(sql).forget(batch),
    (batch) => deviceGrantStore(sql).forget(batch),
    (batch) => endedSessionStore(sql).endExpired(batch),
    (batch) => endedSessionStore(sql).forgetSpent(batch),
    (batch) => endedSessionStore(sql).prune(batch),
    (batch) => deliveryStore(sql).prune(batch),
  ],
});
