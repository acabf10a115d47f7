import { messageText } from '../../../notify/message-text.ts';
import { withoutLinks } from '../text/link-rules.ts';

export const verifyEmailText = (app: string, link: string) =>
  linkText({
    subject: `Verify your email address for ${app}`,
    before: `Open this link to verify your email address for ${app}:`,
    link,
    button: 'Verify your email address',
    after: 'The link works for 24 hours. If you did not ask for it, you can ignore this message.',
  });

export const resetPasswordText = (app: string, link: string) =>
  linkText({
    subject: `Reset your password for ${app}`,
    before: `Open this link to choose a new password for ${app}:`,
    link,
    button: 'Choose a new password',
    after: 'The link works for one hour. If you did not ask for it, you can ignore this message.',
  });

/** Anyone can create an organization, name it and invite others, so links in its name are defused. */
export const invitationText = (app: string, organization: string, link: string) =>
  linkText({
    subject: `Invitation to ${withoutLinks(organization)} on ${app}`,
    before: `You have been invited to join ${withoutLinks(organization)} on ${app}. Open this link to accept or decline:`,
    link,
    button: 'View the invitation',
    after: 'The link works for 7 days. If you do not know who invited you, you can ignore this message.',
  });

/** The facts that a security notice tells the owner of an account. */
export interface SecurityFacts {
  readonly app: string;
  readonly told: readonly { readonly heading: string; readonly sentence: string }[];
  readonly at: Date;
  /** Whether it was done by somebody who is not signed in as the owner. */
  readonly byOther: boolean;
  /** The origin of the change, as far as it is known. */
  readonly device: string | null;
  readonly ip: string | null;
  /** Whether further notices of the kind are suppressed for now. */
  readonly isLast: boolean;
}

/** A notice to the owner of an account. `link` is null for a recipient who can no longer recover the account. */
export function securityNoticeText(
  { app, told, at, byOther, device, ip, isLast }: SecurityFacts,
  link: string | null,
) {
  const [first] = told;
  const facts = [
    `Time: ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    ...(byOther ? [`Changed by: the administrators of ${app}`] : []),
    ...(device === null || byOther ? [] : [`Device: ${device}`]),
    ...(ip === null || byOther ? [] : [`IP address: ${ip}`]),
  ];
  const before = [
    `This is about your account at ${app}. ${told.map(({ sentence }) => sentence).join(' ')}`,
    facts.join('\n'),
    ...(isLast
      ? ['If this happens again within the next hour, we will not send you a message each time.']
      : []),
    'If this was you, or you asked for it, you do not need to do anything.',
  ];
  const subject = `${first?.heading ?? 'Security notice'} (${app})`;
  if (link === null)
    return messageText(subject, [
      ...before,
      `If this was not you, contact the people who run ${app} at once: this address can no longer reset the password.`,
    ]);
  return messageText(subject, [
    ...before,
    'If this was not you, choose a new password at once. That signs you out everywhere and removes all trusted devices:',
    { href: link, button: 'Choose a new password' },
  ]);
}

/** A message around one link. */
const linkText = ({
  subject,
  before,
  link,
  button,
  after,
}: {
  readonly subject: string;
  readonly before: string;
  readonly link: string;
  readonly button: string;
  readonly after: string;
}) => messageText(subject, [before, { href: link, button }, after]);
