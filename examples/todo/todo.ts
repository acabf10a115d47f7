/** The page: a to-do list that is edited with or without a connection, in any number of windows. */
import { createPlinth, indexedDbStorage, type ReplicaRecord } from '@plinth/sdk';

const { url, key } = (await (await fetch('/config.json')).json()) as { url: string; key?: string };
const plinth = createPlinth({ baseUrl: url, apiKey: key });
const replica = await plinth.sync.replica({ tables: ['todos'], storage: indexedDbStorage('todo') });
const todos = replica.table('todos');

const list = document.querySelector('ul')!;
const form = document.querySelector('form')!;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const title = new FormData(form).get('title');
  form.reset();
  void todos.set(crypto.randomUUID(), { title, done: false, created: Date.now() });
});

/** The row of a to-do. Each field is edited by itself, so edits of different fields never conflict. */
function row({ pk, fields }: ReplicaRecord): HTMLLIElement {
  const { title, done, votes = 0 } = fields as { title?: string; done?: boolean; votes?: number };
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: done === true });
  box.addEventListener('change', () => void todos.set(pk, { done: box.checked }));
  const text = Object.assign(document.createElement('input'), { type: 'text', value: title ?? '' });
  text.addEventListener('change', () => void todos.set(pk, { title: text.value }));
  const vote = Object.assign(document.createElement('button'), { textContent: `+${votes}`, title: 'Vote' });
  vote.addEventListener('click', () => void todos.increment(pk, 'votes'));
  const remove = Object.assign(document.createElement('button'), { textContent: '×', title: 'Delete' });
  remove.addEventListener('click', () => void todos.delete(pk));
  const item = document.createElement('li');
  item.append(box, text, vote, remove);
  return item;
}

async function show(): Promise<void> {
  const records = await todos.list();
  const created = ({ fields }: ReplicaRecord) => Number(fields.created ?? 0);
  list.replaceChildren(...records.sort((a, b) => created(a) - created(b)).map(row));
}

function showStatus(): void {
  const { state, pending } = replica.status;
  document.querySelector('[role=status]')!.textContent = `${state}, ${pending} to push`;
}

todos.subscribe(() => void show());
replica.onStatus(showStatus);
replica.start();
showStatus();
await show();
