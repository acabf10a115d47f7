/** Runs the commands of every page in the order in which it shows them, and compares what they answer with what it prints. */
import { expect, inject, it } from 'vitest';
import { jsonForm, textForm } from '../testing/forms.ts';
import { pageFiles, readPage } from '../testing/pages.ts';
import { placesOf, shell } from '../testing/reader.ts';

const server = inject('pageServer');
const pages = await Promise.all((await pageFiles()).map(readPage));
const withCommands = pages.filter((page) => page.commands('sh').length > 0);

it.each(withCommands)('the commands of $file answer what it prints', async (page) => {
  const commands = page.commands('sh');
  const answers = await shell(
    [`export PLINTH_ROOT_TOKEN=${server.rootToken}`, ...commands.map(({ script }) => script)],
    placesOf(server),
  );
  for (const [at, { printed }] of commands.entries()) {
    const answer = (answers[at + 1] ?? '').replaceAll(server.url, 'http://127.0.0.1:4000');
    if (printed?.fence === 'json') expect(jsonForm(answer)).toEqual(jsonForm(printed.text));
    if (printed?.fence === 'text') expect(textForm(answer.trimEnd())).toBe(textForm(printed.text.trimEnd()));
  }
});
