import type { Client } from './client.ts';

/** Returns an object whose members are created from a client on first use. */
export function lazily<Members extends object>(
  client: Client,
  makers: { readonly [Name in keyof Members]: (client: Client) => Members[Name] },
): Members {
  const members = {} as Members;
  for (const name of Object.keys(makers) as (keyof Members)[]) {
    Object.defineProperty(members, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = makers[name](client);
        Object.defineProperty(members, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return members;
}
