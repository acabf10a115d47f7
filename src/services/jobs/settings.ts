import { settings as engineSettings } from '../../db/engine/index.ts';
import type { SettingsOf } from '../../lib/settings.ts';

/** The settings that the service reads from the environment: those of the engine. */
export const settings = engineSettings;

export type Settings = SettingsOf<typeof settings>;
