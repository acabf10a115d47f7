import { SettingError } from '../../../lib/settings.ts';
import { Refused } from '../errors.ts';
import { settings as declared, type Settings } from '../settings.ts';
import { createCardProvider } from './card-provider.ts';
import type { Provider } from './provider.ts';
import { testProvider } from './test-provider.ts';

/** @throws SettingError when the settings name a provider that they do not describe */
export function checkProvider({ provider, cardKey }: Pick<Settings, 'provider' | 'cardKey'>): void {
  if (provider === 'card-provider' && cardKey === '')
    throw new SettingError(
      `${declared.cardKey.name} must be a secret key when the provider is card-provider`,
    );
}

/**
 * The provider that the settings name; undefined where none charges. The billing provider only notifies of what happened elsewhere.
 * @throws SettingError
 */
export async function createProvider(
  settings: Pick<Settings, 'provider' | 'cardKey' | 'cardUrl'>,
): Promise<Provider | undefined> {
  checkProvider(settings);
  if (settings.provider === 'test') return testProvider;
  if (settings.provider !== 'card-provider') return undefined;
  const { cardKey: key, cardUrl: url } = settings;
  return await createCardProvider({ key, url });
}

/** @throws Refused `provider_not_configured` */
export function configured(provider: Provider | undefined): Provider {
  if (provider !== undefined) return provider;
  throw Refused('provider_not_configured', 'no payment provider is configured', { kind: 'internal' });
}
