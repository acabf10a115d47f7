import { type Hole, type Markup, markup } from '../../../http/html.ts';
import type { Problems } from './problems.ts';

/** A form that is protected against forged requests. */
export const form = (action: string, csrf: string, ...content: readonly Hole[]): Markup =>
  markup`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}">${content}</form>`;

export const hidden = (name: string, value: string): Markup =>
  markup`<input type="hidden" name="${name}" value="${value}">`;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'tel' | 'url' | 'date';
  readonly value?: string | undefined;
  /** The value of HTML's `autocomplete` attribute. */
  readonly fill: string;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly longest?: number | undefined;
  readonly shortest?: number | undefined;
  readonly inputMode?: 'numeric' | 'email' | 'text' | 'decimal';
  /** `code` is a code of any form, `digits` one of six digits. */
  readonly kind?: 'code' | 'digits';
  /** A link beside the label. */
  readonly aside?: Markup | undefined;
  /** Needed if a page has several fields of the same name. */
  readonly id?: string;
}

/** A labelled field with its hint and its problem. */
export function field(shown: Field, problems: Problems | undefined, focus: string | undefined): Markup {
  const { name, label, type = 'text', value, fill, required = true, id = name } = shown;
  const problem = problems?.fields[name];
  const isCode = shown.kind !== undefined;
  const plain = type === 'password' || type === 'email' || isCode;
  const input = markup`<input id="${id}" name="${name}" type="${type}" autocomplete="${fill}"${[
    value !== undefined && value !== '' && attribute('value', value),
    shown.placeholder && attribute('placeholder', shown.placeholder),
    shown.inputMode && attribute('inputmode', shown.inputMode),
    shown.longest !== undefined && attribute('maxlength', shown.longest),
    shown.shortest !== undefined && attribute('minlength', shown.shortest),
    isCode && markup` class="code" dir="ltr"`,
    shown.kind === 'digits' && markup` pattern="[0-9 ]*"`,
    plain && markup` autocapitalize="none" spellcheck="false"`,
    type === 'number' && attribute('step', 'any'),
    required && markup` required`,
    focus === name && markup` autofocus`,
    described(id, shown.hint, problem),
  ]}>`;
  return markup`<div class="field">
<label for="${id}">${label}${optional(required)}</label>
${framed(input, shown)}${remarks(id, shown.hint, problem)}${shown.aside && markup`<span class="aside">${shown.aside}</span>`}
</div>`;
}

/** Passwords have room for the button that shows them, and digits have a cell each. */
const framed = (input: Markup, { type, kind }: Field): Markup => {
  if (type === 'password') return markup`<div class="secret">${input}</div>`;
  return kind === 'digits'
    ? markup`<div class="cells" dir="ltr">${input}${Array.from({ length: 6 }, () => markup`<i></i>`)}</div>`
    : input;
};

export const attribute = (name: string, value: string | number): Markup => markup` ${name}="${value}"`;

export const optional = (required: boolean): Hole =>
  !required && markup` <span class="optional">(optional)</span>`;

/** Links a control to its hint and to its problem. */
export function described(id: string, hint: string | undefined, problem: string | undefined): Markup {
  const ids = [hint && `${id}-hint`, problem && `${id}-problem`].filter((one) => one);
  return markup`${ids.length > 0 && attribute('aria-describedby', ids.join(' '))}${problem && markup` aria-invalid="true"`}`;
}

export const remarks = (id: string, hint: string | undefined, problem: string | undefined): Markup =>
  markup`${hint && markup`<p class="hint" id="${id}-hint">${hint}</p>`}${
    problem && markup`<p class="problem" id="${id}-problem">${problem}</p>`
  }`;

/** `plain` is the other of two decisions, and `quiet` a way out. */
export const button = (text: string, kind: 'primary' | 'plain' | 'quiet' = 'primary'): Markup =>
  kind === 'primary'
    ? markup`<button type="submit">${text}</button>`
    : markup`<button type="submit" class="${kind}">${text}</button>`;

/** Where a page leads on which there is nothing left to do. */
export interface WayOn {
  readonly href: string;
  readonly text: string;
}

/** The link to what comes next; without one, users are told that nothing does. */
export const wayOn = (way: WayOn | undefined): Markup =>
  way === undefined
    ? markup`<p class="said hint">You can close this page.</p>`
    : markup`<p class="way"><a class="button" href="${way.href}">${way.text}</a></p>`;

/** The signed-in account, with a link to choose another one. */
export const accountCard = (account: string, switchTo: string): Markup =>
  markup`<div class="account"><span class="mark" aria-hidden="true">${account.charAt(0).toUpperCase()}</span><div><strong>${account}</strong><a href="${switchTo}">Use another account</a></div></div>`;

/** The problem with the whole form, or a confirmation. Screen readers announce it at once. */
export const notice = (text: string | undefined, kind: 'danger' | 'done' = 'danger'): Hole =>
  text !== undefined &&
  (kind === 'danger'
    ? markup`<p class="notice danger" role="alert">${text}</p>`
    : markup`<p class="notice done" role="status">${text}</p>`);

/** The field that gets the focus: the first with a problem, otherwise the first. */
export const focusOf = (problems: Problems | undefined, ...names: readonly string[]): string | undefined =>
  names.find((name) => problems?.fields[name] !== undefined) ?? names[0];

/** The title announces an error before the page is read. */
export const titled = (title: string, problems: Problems | undefined): string =>
  problems ? `Error: ${title}` : title;
