/** A change to how an account is proven, or to who can prove it. */
export type AccountChange =
  | 'password_reset'
  | 'password_changed'
  | 'factor_added'
  | 'factor_removed'
  | 'factors_reset'
  | 'recovery_codes_replaced'
  | 'recovery_code_used'
  | 'email_changed'
  | 'new_device'
  | 'banned';

interface Consequences {
  /** Whether every device loses its trust: the proof that the trust was based on is no longer the one that the account uses. */
  readonly endsTrust: boolean;
  /** The notice to the owner, as a heading and a sentence; null if the owner is told in another way. */
  readonly told: { readonly heading: string; readonly sentence: string } | null;
}

/** The single place that defines the consequences of each change. */
export const consequences: Readonly<Record<AccountChange, Consequences>> = {
  password_reset: {
    endsTrust: true,
    told: {
      heading: 'Your password was reset',
      sentence: 'The password of your account was reset with a link from a message.',
    },
  },
  password_changed: {
    endsTrust: true,
    told: { heading: 'Your password was changed', sentence: 'The password of your account was changed.' },
  },
  factor_added: {
    endsTrust: true,
    told: {
      heading: 'A second factor was set up',
      sentence: 'A second factor was set up. From now on, signing in to your account requires its code.',
    },
  },
  factor_removed: {
    endsTrust: true,
    told: {
      heading: 'A second factor was removed',
      sentence: 'A second factor of your account was removed. Signing in no longer requires its code.',
    },
  },
  factors_reset: {
    endsTrust: true,
    told: {
      heading: 'Your second factors were removed',
      sentence: 'All second factors and recovery codes of your account were removed.',
    },
  },
  recovery_codes_replaced: {
    endsTrust: false,
    told: {
      heading: 'Your recovery codes were replaced',
      sentence: 'New recovery codes were created for your account. The old ones no longer work.',
    },
  },
  recovery_code_used: {
    endsTrust: true,
    told: {
      heading: 'A recovery code was used',
      sentence: 'A recovery code of your account was used in place of a second factor.',
    },
  },
  email_changed: {
    endsTrust: true,
    told: {
      heading: 'Your email address was changed',
      sentence: 'The email address of your account was changed.',
    },
  },
  new_device: {
    endsTrust: false,
    told: {
      heading: 'New sign-in',
      sentence: 'Somebody signed in to your account on a device that had not been used before.',
    },
  },
  banned: { endsTrust: true, told: null },
};

/** Maximum notices of one kind to one user within an hour. The last one says that no more will follow for now. */
export const mostNotices = 5;
export const noticeSeconds = 3_600;
