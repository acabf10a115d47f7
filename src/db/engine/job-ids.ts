import { newId } from '../../lib/ids.ts';

const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/** The next id in alphabetical order. */
export function successor(id: string): string {
  let at = id.length - 1;
  while (id[at] === 'z') at--;
  const next = digits[digits.indexOf(id[at]!) + 1]!;
  return id.slice(0, at) + next + '0'.repeat(id.length - 1 - at);
}

/**
 * Creates ids that ascend in the order in which they are made, also within a millisecond: jobs that become due together start in the
 * order of their ids.
 */
export function jobIds(create: () => string = () => newId('job')): () => string {
  let last = '';
  return () => {
    const made = create();
    last = made > last ? made : successor(last);
    return last;
  };
}
