import { escapeHtml } from '../../http/html.ts';

/** What a message says, in both forms. */
export interface MessageText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const verifyEmailText = (app: string, link: string): MessageText =>
  linkText({
    subject: `Verify your email address for ${app}`,
    before: `Open this link to verify your email address for ${app}:`,
    link,
    button: 'Verify your email address',
    after: 'The link is good for 24 hours. If you did not ask for it, you can ignore this message.',
  });

export const resetPasswordText = (app: string, link: string): MessageText =>
  linkText({
    subject: `Reset your password for ${app}`,
    before: `Open this link to choose a new password for ${app}:`,
    link,
    button: 'Choose a new password',
    after: 'The link is good for one hour. If you did not ask for it, you can ignore this message.',
  });

export const invitationText = (app: string, organization: string, link: string): MessageText =>
  linkText({
    subject: `Invitation to ${organization} on ${app}`,
    before: `You are invited to join ${organization} on ${app}. Open this link to answer:`,
    link,
    button: 'Answer the invitation',
    after: 'The link is good for 7 days. If you do not know who invites you, you can ignore this message.',
  });

/** A message around one link. Every part is escaped in the markup. */
function linkText(parts: {
  subject: string;
  before: string;
  link: string;
  button: string;
  after: string;
}): MessageText {
  const { subject, before, link, button, after } = parts;
  return {
    subject,
    text: `${before}\n\n${link}\n\n${after}\n`,
    html:
      '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body>' +
      `<p>${escapeHtml(before)}</p><p><a href="${escapeHtml(link)}">${escapeHtml(button)}</a></p>` +
      `<p>${escapeHtml(link)}</p><p>${escapeHtml(after)}</p></body></html>\n`,
  };
}
