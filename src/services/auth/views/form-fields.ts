import type { Form, FormField } from '../../../../generated/auth/types.ts';
import { type Markup, markup } from '../../../http/html.ts';
import { Invalid } from '../../../lib/errors.ts';
import { attribute, described, field, optional, remarks } from './parts.ts';
import type { Problems } from './problems.ts';

/** The values typed into a page, by field name. */
export type Typed = Readonly<Record<string, string | undefined>>;

type Questions = readonly FormField[];

const nameOf = ({ key }: Pick<FormField, 'key'>) => `field.${key}`;

export const questionsOf = (form: Form | undefined): Questions =>
  (form?.fields ?? []).toSorted((a, b) => a.order - b.order);

/**
 * Converts the answers to `metadata`: empty ones are absent, numbers are numbers, boxes are true or false.
 * @throws Invalid naming a member that is neither one of the page's own fields nor an answer to a question of the form
 */
export function answersOf(
  questions: Questions,
  own: readonly string[],
  typed: Typed,
): Record<string, unknown> {
  const known = new Set([...own, ...questions.map(nameOf)]);
  const unknown = Object.keys(typed).find((name) => !known.has(name));
  if (unknown !== undefined) throw Invalid(`${unknown.slice(0, 64)}: unknown`);
  const answers = questions.map((question) => [question.key, answerTo(question, typed[nameOf(question)])]);
  return Object.fromEntries(answers.filter(([, answer]) => answer !== undefined)) as Record<string, unknown>;
}

/** Browsers omit an unticked box. */
function answerTo({ type }: FormField, text: string | undefined): unknown {
  if (type === 'checkbox' || type === 'switch') return text === 'true';
  if (text === undefined || text.trim() === '') return undefined;
  const number = Number(text);
  return type === 'number' && Number.isFinite(number) ? number : text;
}

/** The questions of the app's form, with the answers so far; initially with the form's default values. */
export const questionFields = (
  questions: Questions,
  typed: Typed | undefined,
  problems: Problems | undefined,
  focus?: string,
): Markup[] => questions.map((question) => questionField(question, typed, problems, focus));

function questionField(
  question: FormField,
  typed: Typed | undefined,
  problems: Problems | undefined,
  focus: string | undefined,
): Markup {
  const name = nameOf(question);
  const value = typed ? (typed[name] ?? '') : (question.default ?? '');
  const shown: Shown = { question, name, value, problem: problems?.fields[name], focused: focus === name };
  switch (question.type) {
    case 'textarea':
      return textArea(shown);
    case 'select':
      return selection(shown);
    case 'radio':
      return choices(shown);
    case 'checkbox':
    case 'switch':
      return box(shown);
    default: {
      const { label, placeholder, description: hint, validation, type } = question;
      const lengths = { longest: validation.max_len, shortest: validation.min_len };
      const required = validation.required === true;
      const asked = { name, label, type, value, placeholder, hint, required, fill: fills[type] ?? 'on' };
      return field({ ...asked, ...lengths }, problems, focus);
    }
  }
}

const fills: Partial<Record<FormField['type'], string>> = { email: 'email', tel: 'tel', url: 'url' };

/** A question as it is shown. */
interface Shown {
  readonly question: FormField;
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly focused: boolean;
}

const isRequired = ({ question }: Shown) => question.validation.required === true;

/** The attributes that controls of all kinds share. */
const common = (shown: Shown): Markup =>
  markup`name="${shown.name}"${isRequired(shown) && markup` required`}${shown.focused && markup` autofocus`}${described(
    shown.name,
    shown.question.description,
    shown.problem,
  )}`;

const labelled = (shown: Shown, control: Markup): Markup => markup`<div>
<label for="${shown.name}">${shown.question.label}${optional(isRequired(shown))}</label>
${control}${remarks(shown.name, shown.question.description, shown.problem)}
</div>`;

/** The line break after the tag is not part of the text: without it, HTML would drop a leading line break of the text. */
const textArea = (shown: Shown): Markup => {
  const { max_len } = shown.question.validation;
  const longest = max_len !== undefined && attribute('maxlength', max_len);
  return labelled(
    shown,
    markup`<textarea id="${shown.name}" ${common(shown)}${longest}>\n${shown.value}</textarea>`,
  );
};

const selection = (shown: Shown): Markup => {
  const option = ({ value, label }: FormField['options'][number]) =>
    markup`<option value="${value}"${value === shown.value && markup` selected`}>${label}</option>`;
  return labelled(
    shown,
    markup`<select id="${shown.name}" ${common(shown)}><option value="">Choose …</option>${shown.question.options.map(option)}</select>`,
  );
};

const choices = (shown: Shown): Markup => {
  const choice = ({ value, label }: FormField['options'][number], at: number) => markup`<div class="choice">
<input type="radio" id="${shown.name}-${at}" value="${value}" ${common({ ...shown, focused: shown.focused && at === 0 })}${value === shown.value && markup` checked`}>
<label for="${shown.name}-${at}">${label}</label>
</div>`;
  const { label, description, options } = shown.question;
  return markup`<fieldset><legend>${label}${optional(isRequired(shown))}</legend>
${options.map(choice)}${remarks(shown.name, description, shown.problem)}
</fieldset>`;
};

const box = (shown: Shown): Markup => markup`<div><div class="choice">
<input type="checkbox" id="${shown.name}" value="true" ${common(shown)}${shown.value === 'true' && markup` checked`}>
<label for="${shown.name}">${shown.question.label}${optional(isRequired(shown))}</label>
</div>${remarks(shown.name, shown.question.description, shown.problem)}</div>`;
