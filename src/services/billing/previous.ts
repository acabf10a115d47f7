import { isDeepStrictEqual } from 'node:util';

/** The members of a record that a change gave another value, with the values that they had. */
export const previousOf = <Shown extends object>(before: Shown, after: Shown): Partial<Shown> =>
  Object.fromEntries(
    Object.entries(before).filter(
      ([name, value]) => name !== 'updated_at' && !isDeepStrictEqual(value, after[name as keyof Shown]),
    ),
  ) as Partial<Shown>;

/** Whether a change gave any member another value. */
export const isChanged = <Shown extends object>(before: Shown, after: Shown): boolean =>
  Object.keys(previousOf(before, after)).length > 0;
