import { messageText } from '../../../notify/message-text.ts';
import { withoutLinks } from '../text/link-rules.ts';

export const verifyEmailText = (app: string, link: string) =>
  linkText({
    subject: `Verify your email address for ${app}`,
    before: `Open this link to verify your email address for ${app}:`,
    link,
    button: 'Verify your email address',
    after: 'The link is good for 24 hours. If you did not ask for it, you can ignore this message.',
  });

export const resetPasswordText = (app: string, link: string) =>
  linkText({
    subject: `Reset your password for ${app}`,
    before: `Open this link to choose a new password for ${app}:`,
    link,
    button: 'Choose a new password',
    after: 'The link is good for one hour. If you did not ask for it, you can ignore this message.',
  });

/** Anyone can create an organization, name it and invite others, so links in its name are defused. */
export const invitationText = (app: string, organization: string, link: string) =>
  linkText({
    subject: `Invitation to ${withoutLinks(organization)} on ${app}`,
    before: `You are invited to join ${withoutLinks(organization)} on ${app}. Open this link to answer:`,
    link,
    button: 'Answer the invitation',
    after: 'The link is good for 7 days. If you do not know who invites you, you can ignore this message.',
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
    ...(byOther ? [`By: the administration of ${app}`] : []),
    ...(device === null || byOther ? [] : [`Device: ${device}`]),
    ...(ip === null || byOther ? [] : [`IP address: ${ip}`]),
  ];
  const before = [
    `This is about your account at ${app}. ${told.map(({ sentence }) => sentence).join(' ')}`,
    facts.join('\n'),
    ...(isLast
      ? ['If the same goes on, you will not get a message about it each time for the next hour.']
      : []),
    'If it was you, or you asked for it, there is nothing to do.',
  ];
  const subject = `${first?.heading ?? 'Security notice'} (${app})`;
  if (link === null)
    return messageText(subject, [
      ...before,
      `If it was not you, turn to those who run ${app} at once: this address cannot reset the password any more.`,
    ]);
  return messageText(subject, [
    ...before,
    'If it was not you, choose a new password at once. That ends all other sign-ins, and no device is trusted any more:',
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
