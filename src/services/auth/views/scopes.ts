import { type Markup, markup } from '../../../http/html.ts';
import { listTick } from './icons.ts';

/** What the scopes of OpenID Connect let a client do, in words. */
const meanings: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours',
  profile: 'See your name, username and picture',
  email: 'See your email address',
  phone: 'See your phone number',
  offline_access: 'Keep its access while you are away',
};

/** Verbs of actions that most apps have. */
const verbs: Readonly<Record<string, string>> = {
  read: 'See',
  list: 'See',
  write: 'See and change',
  create: 'Create',
  update: 'Change',
  delete: 'Delete',
  admin: 'Manage',
  '*': 'See, change and manage',
};

/** The rights that a client asks for, in plain words. */
export const scopeList = (scopes: readonly string[]): Markup =>
  markup`<h2>It will be able to</h2>
<ul class="scopes">${scopes.map((scope) => markup`<li>${listTick}<span>${inWords(scope)}</span></li>`)}</ul>`;

/** Only the app knows the exact meaning of a scope that it defines, so its name stands beside the words. */
function inWords(scope: string): Markup | string {
  const known = meanings[scope];
  if (known !== undefined) return known;
  if (scope === '*') return 'Do everything that you may do';
  const [, resource = '', action = ''] = /^(.+):([^:]+)$/.exec(scope) ?? [];
  const thing = resource.replaceAll(/[_.:-]+/g, ' ').trim();
  if (thing === '') return markup`Use the permission <code>${scope}</code>`;
  const verb = verbs[action];
  return verb === undefined
    ? markup`Use “${action.replaceAll(/[_.-]+/g, ' ')}” on ${thing} <code>${scope}</code>`
    : markup`${verb} ${thing} <code>${scope}</code>`;
}
