/** Authentication classes (`acr`): one factor, and two. */
export const acrValues = ['urn:plinth:acr:1fa', 'urn:plinth:acr:2fa'] as const;

/** The class of a sign-in that was proven by these methods (RFC 8176). */
export const acrOf = (methods: readonly string[]): (typeof acrValues)[number] =>
  acrValues[methods.includes('mfa') ? 1 : 0];
