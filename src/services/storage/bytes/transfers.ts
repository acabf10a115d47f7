import { TooManyTransfers } from '../errors.ts';

/** The contents that this process receives and sends now. */
export interface Transfers {
  /** Begins a transfer and returns its end, which may be called more than once. Throws `Unavailable` when too many are running. */
  begin(): () => void;
  readonly active: () => number;
}

export function createTransfers(most: number): Transfers {
  let active = 0;
  return {
    begin() {
      if (active >= most) throw TooManyTransfers();
      active += 1;
      let ended = false;
      return () => {
        if (!ended) active -= 1;
        ended = true;
      };
    },
    active: () => active,
  };
}
