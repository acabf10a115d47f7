#!/usr/bin/env node
// This file runs on every Node.js, so that one that is too old hears it in a sentence; everything else is in src/main.ts.
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const needed = 24;
const words = process.argv.slice(2);

if (words.length === 0 || words.includes('--help') || words.includes('-h')) {
  process.stdout.write(readFileSync(join(__dirname, 'help.txt'), 'utf8'));
} else if (words.includes('--version')) {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8'));
  process.stdout.write(`Plinth ${version} on Node.js ${process.version}\n`);
} else if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(
    `Plinth needs Node.js ${needed} or newer, and this is ${process.version}. For development \`npm ci\` installs one; after ` +
      '`npm ci --ignore-scripts`, `npm rebuild node` does. In production, install it on the machine.\n',
  );
  process.exitCode = 1;
} else {
  import('../src/main.ts').catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  });
}
