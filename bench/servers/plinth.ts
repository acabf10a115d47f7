/** The real server with all services. The environment selects the database. */
import { pino } from 'pino';
import { loadServices, serviceNames } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { loadSealer } from '../../src/master-key.ts';
import { serve } from '../../src/serve.ts';
import { announce } from './announce.ts';

const modules = await loadServices(serviceNames);
const config = readConfig(modules, { port: '0' });
const log = pino({ level: 'error' }, process.stderr);
const sealer = await loadSealer(config);
const served = await serve({ config, modules, rootToken: config.rootToken ?? '', sealer, log });
announce(Number(new URL(served.url).port), () => served.close());
