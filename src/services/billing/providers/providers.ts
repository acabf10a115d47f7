import { SettingError } from '../../../lib/settings.ts';
import { Refused } from '../errors.ts';
import { settings as declared, type Settings } from '../settings.ts';
import { createCardProvider } from './card-provider.ts';
import type { Provider } from './provider.ts';
import { testProvider } from './test-provider.ts';

/**
 * The provider that the settings name; undefined where none charges. The billing provider only notifies of what happened elsewhere.
 * @throws SettingError
 */
export async function createProvider(
  settings: Pick<Settings, 'provider' | 'cardKey' | 'cardUrl'>,
): Promise<Provider | undefined> {
  if (settings.provider === 'test') return testProvider;
  if (settings.provider !== 'card-provider') return undefined;
  const { cardKey: key, cardUrl: url } = settings;
  if (key === '')
    throw new SettingError(
      `${declared.cardKey.name} must be a secret key when the provider is card-provider`,
    );
  return await createCardProvider({ key, url });
}

/** @throws Refused `provider_not_configured` */
export function configured(provider: Provider | undefined): Provider {
  if (provider !== undefined) return provider;
  throw Refused('provider_not_configured', 'no payment provider is configured', { kind: 'internal' });
}
