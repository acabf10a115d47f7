import { expect, test } from 'vitest';
import type { FormField } from '../../../../generated/auth/types.ts';
import { answersOf, questionFields } from './form-fields.ts';

const question = (key: string, type: FormField['type'], more: Partial<FormField> = {}): FormField => ({
  key,
  type,
  label: key,
  placeholder: '',
  description: '',
  default: null,
  options: [],
  order: 0,
  validation: {},
  ...more,
});

test('answers are what JSON would have said', () => {
  const questions = [
    question('company', 'text'),
    question('seats', 'number'),
    question('rooms', 'number'),
    question('about', 'textarea'),
    question('news', 'switch'),
    question('terms', 'checkbox'),
  ];
  const typed = {
    email: 'x',
    'field.company': 'A',
    'field.seats': '7',
    'field.rooms': 'x',
    'field.about': ' ',
  };
  expect(answersOf(questions, ['email'], { ...typed, 'field.news': 'true' })).toEqual({
    company: 'A',
    seats: 7,
    rooms: 'x',
    news: true,
    terms: false,
  });
});

test.each(['nmae', 'field.other', 'metadata', '__proto__'])('%s is nothing that was asked', (name) => {
  const typed = Object.fromEntries([[name, 'x']]);
  expect(() => answersOf([question('company', 'text')], ['email'], typed)).toThrow(`${name}: unknown`);
});

test('every kind of question is a labelled control that keeps its answer, escaped', () => {
  const options = [{ label: '<b>', value: '"' }];
  const shown = (type: FormField['type'], value: string) =>
    String(questionFields([question('q', type, { options })], { 'field.q': value }, undefined)[0]);
  expect(shown('text', '"<')).toContain('value="&quot;&lt;"');
  expect(shown('textarea', '</textarea>')).toContain('>\n&lt;/textarea&gt;</textarea>');
  expect(shown('select', '"')).toContain('<option value="&quot;" selected>&lt;b&gt;</option>');
  expect(shown('radio', '"')).toContain('value="&quot;" name="field.q" checked>');
  expect(shown('switch', 'true')).toContain('name="field.q" checked>');
  for (const type of ['text', 'textarea', 'select', 'switch'] as const)
    expect(shown(type, '')).toContain('<label for="field.q">q');
});
