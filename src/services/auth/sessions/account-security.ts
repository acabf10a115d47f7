import { consequences, mostNotices, noticeSeconds } from '../directory/account-changes.ts';
import type { Deps } from './deps.ts';
import { describeDevice } from '../text/device-names.ts';
import { lookOf } from '../look/look.ts';
import { mailOf } from '../messages/mail.ts';
import { securityNotice } from '../messages/message-texts.ts';
import { securityNoticeStore } from './security-notices.store.ts';
import type { NotedAccountChange, Write } from '../directory/writes.ts';

/**
 * Applies the consequences of changes in how accounts are proven: devices lose their trust, and the owner gets a mail, all within
 * the transaction of the change. There are no text messages: they cost money, and a user with only a number gets one per sign-in.
 */
export const createAccountSecurity =
  ({ messages, changes, issuer }: Pick<Deps, 'messages' | 'changes' | 'issuer'>) =>
  async (write: Write, noted: readonly NotedAccountChange[]): Promise<void> => {
    for (const userId of new Set(noted.map((change) => change.userId))) {
      const own = noted.filter((change) => change.userId === userId);
      if (own.some(({ change }) => consequences[change].endsTrust))
        await securityNoticeStore(write.sql).endTrust(write.tenant, userId);
      await tell({ messages, changes, issuer }, write, userId, own);
    }
  };

async function tell(
  { messages, changes, issuer }: Pick<Deps, 'messages' | 'changes' | 'issuer'>,
  write: Write,
  userId: string,
  noted: readonly NotedAccountChange[],
): Promise<void> {
  const { sql, tenant, app } = write;
  const kinds = [...new Set(noted.map(({ change }) => change))].filter((kind) => consequences[kind].told);
  const to = kinds.length > 0 ? await securityNoticeStore(sql).addressee(tenant, app, userId) : undefined;
  const former = noted.find(({ formerEmail }) => formerEmail != null)?.formerEmail ?? null;
  if (!to || (to.email === null && former === null)) return;
  const counted = await securityNoticeStore(sql).count(tenant, userId, kinds, noticeSeconds);
  const allowed = new Map(
    counted.filter(({ sent }) => sent <= mostNotices).map(({ kind, sent }) => [kind, sent]),
  );
  const due = kinds.filter((kind) => allowed.has(kind));
  if (due.length === 0) return;
  const look = await lookOf(sql, { tenant, id: app, name: to.app_name }, null);
  const facts = {
    told: due.map((kind) => consequences[kind].told!),
    at: new Date(changes.clock.now()),
    byOther: write.actor !== userId,
    device: deviceOf(write),
    ip: write.visit?.ip ?? null,
    isLast: [...allowed.values()].some((sent) => sent === mostNotices),
  };
  const link = `${issuer}/pages/forgot-password?app_id=${encodeURIComponent(app)}`;
  const send = (email: string, helpsItself: boolean) =>
    messages.notice(write, {
      ...mailOf(securityNotice(look.name, facts, helpsItself ? link : null), look),
      channel: 'email',
      kind: 'security_notice',
      to: email,
      token: null,
      code: null,
      userId,
    });
  if (to.email !== null) await send(to.email, true);
  // The link to reset the password would go to the new address, which somebody else may have set.
  if (former !== null && former !== to.email) await send(former, false);
}

/** The name of the device if it is a plausible one: the sender chooses the User-Agent, and a notice must not contain their links. */
function deviceOf({ visit }: Write): string | null {
  const { name, browser, os } = describeDevice(visit?.userAgent ?? null);
  return (browser ?? os) !== null && /^[\p{L}\p{N} -]{1,80}$/u.test(name) ? name : null;
}
