/*
 * Loads the OAuth library so that it reads the database's clock. The library reads the process clock in one small module and has no
 * setting for another clock, but expiry is judged by the database everywhere else. That module is therefore replaced while the
 * library loads. Import values of the library from here only; its types may come from the library itself.
 */
import { createRequire, registerHooks } from 'node:module';

const replaced = '/oidc-provider/lib/helpers/epoch_time.js';
const replacement = new URL('./oidc-epoch-time.ts', import.meta.url).href;

let found = false;
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    if (!resolved.url.endsWith(replaced)) return resolved;
    found = true;
    return next(replacement, context);
  },
});
const library = await import('oidc-provider');
hooks.deregister();
if (!found)
  throw new Error(
    `oidc-provider has no module ${replaced}, or was loaded before: it would go by its own clock`,
  );

export const { errors, interactionPolicy, Provider } = library;
export type Provider = InstanceType<typeof library.Provider>;

// Loaded with `require`, as the library does, so that both share one instance even when a test runner has its own module cache.
const require = createRequire(import.meta.url);
export const { byClock } = require('./oidc-epoch-time.ts') as typeof import('./oidc-epoch-time.ts');
