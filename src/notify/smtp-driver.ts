import { createTransport } from 'nodemailer';
import type { MessageDriver } from './message.ts';

/** The most milliseconds of an attempt, less than the time for which its message is claimed. */
const longestMs = 60_000;

/**
 * Sends mail by SMTP. A message that is sent twice, because a response was lost, has the same Message-ID both times. A server that
 * says a little now and then is not silent, so that only the whole time of an attempt ends it.
 */
export function smtpDriver(url: string, mailFrom: string, mostMs = longestMs): MessageDriver {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, to, subject, text, html, mail_from }) {
      await transport.sendMail({
        from: mail_from ?? mailFrom,
        // An object is a single address and is not parsed as a list.
        to: { name: '', address: to },
        subject,
        text,
        ...(html === null ? {} : { html }),
        messageId: `<${id}@plinth>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(mostMs),
      });
    },
    async close() {
      transport.close();
    },
  };
}
