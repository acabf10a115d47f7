/** The origin of a sign-in. */
export interface Visit {
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** The token that the device was given when it was new. */
  readonly deviceToken: string | undefined;
}
