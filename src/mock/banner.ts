import { operations, services, type ServiceName } from '../../generated/operations.ts';

/** Returns the text shown to the person who starts the mock. `remembered` is how many records it remembers, 0 when it keeps nothing. */
export function banner(url: string, names: readonly ServiceName[], remembered: number): string {
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => {
    const count = operations.filter(({ service }) => service === name).length;
    return `  ${url}/${name.padEnd(width)}  ${services[name].title}, ${count} operations`;
  });
  const stateful = remembered > 0;
  const keeps = stateful ? `remembers up to ${remembered.toLocaleString('en')} records` : 'keeps nothing';
  return [
    `Plinth mock: answers the examples of the contract, ${keeps}, takes any credentials`,
    ...lines,
    `  read about them at ${url}/ and ${url}/<service>/docs`,
    '  choose an answer with the header  Prefer: code=404 | example=<name> | dynamic=true',
    stateful
      ? '  X-Tenant-ID chooses whose records are meant; everything is forgotten at the end'
      : '  npm run mock -- --stateful remembers what is created, changed and deleted',
  ].join('\n');
}
