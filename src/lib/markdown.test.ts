import { describe, expect, it } from 'vitest';
import { escapeMarkdown, markdownCell } from './markdown.ts';

describe('text in Markdown', () => {
  it.each([
    ['plain words, 1 + 1', 'plain words, 1 + 1'],
    ['*bold* _slanted_ `code` ~~gone~~', '\\*bold\\* \\_slanted\\_ \\`code\\` \\~\\~gone\\~\\~'],
    ['[click](javascript:x)', '\\[click\\]\\(javascript:x\\)'],
    ['![picture](https://evil.example)', '\\!\\[picture\\]\\(https\\://evil.example\\)'],
    ['see www.evil.example', 'see www\\.evil.example'],
    ['<script>', '\\<script\\>'],
    ['&lt;', '\\&lt;'],
    ['# heading', '\\# heading'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['---', '\\---'],
    ['a\\b', 'a\\\\b'],
    ['first\n# second\r\n\r\n- third', 'first \\# second - third'],
    ['    code', 'code'],
  ])('%j is written %j', (text, written) => expect(escapeMarkdown(text)).toBe(written));

  it('stays in its cell of a table, and is visible when it is empty', () => {
    expect(['a|b', 'two\nlines', ' '].map(markdownCell)).toEqual(['a\\|b', 'two lines', '–']);
  });
});
