import { Conflict } from '../../lib/errors.ts';

export const keyStates = ['active', 'suspended', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

export const keyEvents = ['suspend', 'reactivate', 'rotate', 'change', 'expire', 'extend', 'revoke'] as const;
export type KeyEvent = (typeof keyEvents)[number];

/** Not a state: it stands for the state before the key expired. Time never ends a suspension. */
export const resumed = 'resumed';

/**
 * The effect of each event on a key in each state; `null` where it is not allowed. `change` is every write that leaves the
 * state alone, `expire` is the passing of `expires_at`, and `extend` sets a new `expires_at`. Deleting is possible in every
 * state.
 */
// prettier-ignore
export const transitions: Record<KeyState, Record<KeyEvent, KeyState | typeof resumed | null>> = {
  active: {
    suspend: 'suspended', reactivate: 'active', rotate: 'active', change: 'active',
    expire: 'expired', extend: 'active', revoke: 'revoked',
  },
  suspended: {
    suspend: 'suspended', reactivate: 'active', rotate: null, change: 'suspended',
    expire: 'expired', extend: 'suspended', revoke: 'revoked',
  },
  expired: {
    suspend: null, reactivate: null, rotate: null, change: 'expired',
    expire: 'expired', extend: resumed, revoke: 'revoked',
  },
  revoked: {
    suspend: null, reactivate: null, rotate: null, change: null,
    expire: 'revoked', extend: null, revoke: 'revoked',
  },
};

/** Returns the state of a key after an event. @throws Conflict `key is <state>` when the state does not allow the event */
export function nextState(key: { state: KeyState; suspended: boolean }, event: KeyEvent): KeyState {
  const to = transitions[key.state][event];
  if (to === null) throw Conflict(`key is ${key.state}`);
  if (to === resumed) return key.suspended ? 'suspended' : 'active';
  return to;
}
