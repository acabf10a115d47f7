import type { Settings } from '../settings.ts';

/** The keys that sign links, by their names. The first one signs, and all of them are accepted. */
export type LinkKeys = ReadonlyMap<string, Uint8Array>;

/** @param stored the secret that the database keeps, for servers without keys in their settings */
export function linkKeysOf({ signingKeys }: Pick<Settings, 'signingKeys'>, stored: Uint8Array): LinkKeys {
  if (signingKeys === '') return new Map([['k1', stored]]);
  return new Map(
    signingKeys.split(',').map((pair) => {
      const [name = '', key = ''] = pair.split(':');
      return [name, Buffer.from(key, 'hex')] as const;
    }),
  );
}
