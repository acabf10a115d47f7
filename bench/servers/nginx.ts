/** nginx with one worker, serving the files of a folder. Arguments: the folder, the program. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../drills/server.ts';
import { announce } from './announce.ts';
import { answers } from './answers.ts';

const [folder = '', program = 'nginx'] = process.argv.slice(2);
const port = await freePort();
const config = join(folder, 'nginx.conf');
const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path ${join(folder, 'temporary')};`)
  .join('\n  ');
writeFileSync(
  config,
  `daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log stderr crit;
events { worker_connections 1024; }
http {
  ${temporary}
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  server {
    listen 127.0.0.1:${port};
    root ${join(folder, 'files')};
  }
}
`,
);
const child = spawn(program, ['-c', config, '-p', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
child.on('error', () => process.exit(1)).on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => child.removeAllListeners('exit').kill('SIGKILL'));
await answers(port);
announce(port);
