/** The content of a message, as plain text and HTML. */
export interface MessageText {
  readonly subject: string;
  readonly text: string;
  /** Null for a text message. */
  readonly html: string | null;
}

/** How a message reaches its recipient. */
export type Channel = 'email' | 'sms';

/** A message that is to be sent. `Kind` names the messages of a service. */
export interface Draft<Kind extends string> extends MessageText {
  readonly kind: Kind;
  readonly channel: Channel;
  /** An email address, or a phone number in E.164 form. */
  readonly to: string;
  /** Kept beside the text if messages stay in the mailbox, for development and tests. */
  readonly token: string | null;
  readonly code: string | null;
  /** The user whom the message belongs to, so that it is deleted with the account; null if it belongs to none. */
  readonly userId: string | null;
}

/** A message as it is handed to a driver. */
export interface OutgoingMessage extends MessageText {
  readonly id: string;
  readonly to: string;
  /** The sender that the app sets for its mail; null for the one of the settings. */
  readonly mail_from: string | null;
}

/** A channel through which messages leave. */
export interface MessageDriver {
  /** Hands a message over within a minute. An error means that the message is to be sent again later. */
  send(message: OutgoingMessage): Promise<void>;
  close(): Promise<void>;
}
