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
  readonly className?: 'code';
  /** Needed if a page has several fields of the same name. */
  readonly id?: string;
}

/** A labelled field with its hint and its problem. */
export function field(shown: Field, problems: Problems | undefined, focus: string | undefined): Markup {
  const { name, label, type = 'text', value, fill, required = true, id = name } = shown;
  const problem = problems?.fields[name];
  const plain = type === 'password' || type === 'email' || shown.className === 'code';
  return markup`<div>
<label for="${id}">${label}${optional(required)}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${fill}"${[
    value !== undefined && value !== '' && attribute('value', value),
    shown.placeholder && attribute('placeholder', shown.placeholder),
    shown.inputMode && attribute('inputmode', shown.inputMode),
    shown.longest !== undefined && attribute('maxlength', shown.longest),
    shown.shortest !== undefined && attribute('minlength', shown.shortest),
    shown.className && attribute('class', shown.className),
    plain && markup` autocapitalize="none" spellcheck="false"`,
    type === 'number' && attribute('step', 'any'),
    required && markup` required`,
    focus === name && markup` autofocus`,
    described(id, shown.hint, problem),
  ]}>${remarks(id, shown.hint, problem)}
</div>`;
}

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

export const button = (text: string, kind: 'primary' | 'plain' = 'primary'): Markup =>
  kind === 'primary'
    ? markup`<button type="submit">${text}</button>`
    : markup`<button type="submit" class="plain">${text}</button>`;

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
