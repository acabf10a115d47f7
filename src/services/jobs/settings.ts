import { settings as engineSettings } from '../../db/engine/index.ts';

/** The settings that the service reads from the environment: those of the engine. */
export const settings = engineSettings;
