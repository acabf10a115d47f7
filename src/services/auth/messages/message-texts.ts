import { withoutLinks } from '../text/link-rules.ts';
import type { Mail } from './mail.ts';

/** `name` is the name of the company or app that sends the mail, here and below. */
export const verifyEmailMail = (name: string, link: string): Mail => ({
  subject: `Verify your email address for ${name}`,
  heading: 'Verify your email address',
  preview: 'Confirm that this address is yours. The link works for 24 hours.',
  parts: [
    `Confirm that this is your email address for ${name}. The link works for 24 hours.`,
    { href: link, button: 'Verify email address' },
    { remark: 'If you did not ask for this, you can ignore this message.' },
  ],
});

export const resetPasswordMail = (name: string, link: string): Mail => ({
  subject: `Reset your password for ${name}`,
  heading: 'Reset your password',
  preview: 'Choose a new password. The link works for one hour.',
  parts: [
    `Somebody asked for a new password for your account at ${name}. If it was you, choose one now. The link works for one hour.`,
    { href: link, button: 'Choose a new password' },
    { remark: 'If it was not you, you can ignore this message: your password stays as it is.' },
  ],
});

/** Anyone can create an organization, name it and invite others, so links in its name are defused. */
export function invitationMail(name: string, organization: string, link: string): Mail {
  const place = `${withoutLinks(organization)} on ${name}`;
  return {
    subject: `Invitation to ${place}`,
    heading: `Join ${withoutLinks(organization)}`,
    preview: 'Accept or decline the invitation. The link works for 7 days.',
    parts: [
      `You have been invited to join ${place}. You can accept or decline; the link works for 7 days.`,
      { href: link, button: 'View the invitation' },
      { remark: 'If you do not know who invited you, you can ignore this message.' },
    ],
  };
}

/** The facts that a security notice tells the owner of an account. */
export interface SecurityFacts {
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
export function securityNotice(
  name: string,
  { told, at, byOther, device, ip, isLast }: SecurityFacts,
  link: string | null,
): Mail {
  const heading = told[0]?.heading ?? 'Security notice';
  const facts = [
    ['Time', `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ...(byOther ? [['Changed by', `the administrators of ${name}`] as const] : []),
    ...(device === null || byOther ? [] : [['Device', device] as const]),
    ...(ip === null || byOther ? [] : [['IP address', ip] as const]),
  ] as const;
  const wayOut =
    link === null
      ? [
          `If this was not you, contact the people who run ${name} at once: this address can no longer reset the password.`,
        ]
      : [
          'If this was not you, choose a new password at once. That signs you out everywhere and removes all trusted devices.',
          { href: link, button: 'Choose a new password' },
        ];
  return {
    subject: `${heading} (${name})`,
    heading,
    preview: 'If this was you, you do not need to do anything.',
    parts: [
      `This is about your account at ${name}. ${told.map(({ sentence }) => sentence).join(' ')}`,
      { facts },
      'If this was you, or you asked for it, you do not need to do anything.',
      ...wayOut,
      ...(isLast
        ? [
            {
              remark: 'If this happens again within the next hour, we will not send you a message each time.',
            },
          ]
        : []),
    ],
  };
}
