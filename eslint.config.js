import tseslint from 'typescript-eslint';

/** Imports that a folder may not make, as [pattern of the import, reason] pairs. */
const imports = (files, ...rules) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: rules.map(([regex, message]) => ({ regex, message })) }],
  },
});
const postgres = ['^postgres$', 'Only stores and src/db see the driver.'];

const environment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/config.ts reads the environment.',
};
const statements = {
  selector: "TaggedTemplateExpression[tag.name='sql']",
  message: 'SQL lives in stores and in src/db.',
};

/**
 * Like `max-lines-per-function`, but functions inside a function are judged by themselves: a store, or the handlers of an interface,
 * is a function with many short ones inside. Blank lines and comments do not count.
 */
const longFunctions = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'integer', minimum: 1 }],
    messages: { long: '{{lines}} lines of its own; at most {{most}}' },
  },
  create({ sourceCode, options: [most], report }) {
    const open = [];
    const leave = (node) => {
      const inner = open.pop();
      const lines = countedLines(sourceCode, node);
      if (lines - inner > most)
        report({ node, loc: node.loc.start, messageId: 'long', data: { lines: lines - inner, most } });
      if (open.length > 0) open[open.length - 1] += lines - 1;
    };
    return Object.fromEntries(
      ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].flatMap((kind) => [
        [kind, () => open.push(0)],
        [`${kind}:exit`, leave],
      ]),
    );
  },
};

/** The lines of a node, without blank ones and those that hold only a comment. */
function countedLines({ lines }, { loc }) {
  return lines.slice(loc.start.line - 1, loc.end.line).filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line))
    .length;
}

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/',
      '**/dist/',
      'site/.astro/',
      'generated/',
      'sdk/src/services/',
      'tsp-output/',
      '**/*.js',
      '**/*.cjs',
    ],
  },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Handlers implement an interface that is asynchronous whether or not they have to wait.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
    },
  },
  { files: ['src/**'], rules: { 'no-restricted-syntax': ['error', environment, statements] } },
  // Client programs get the environment of the command, and a password with it.
  {
    files: ['src/config.ts', 'src/commands/postgres-tools.ts'],
    rules: { 'no-restricted-syntax': ['error', statements] },
  },
  { files: ['src/**/*.store.ts', 'src/db/**'], rules: { 'no-restricted-syntax': ['error', environment] } },
  { files: ['src/**/*.test.ts', 'src/testing/**'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['src/**', 'sdk/src/**', 'spec/**'],
    ignores: ['**/*.test.ts', '**/testing/**'],
    plugins: { house: { rules: { 'long-functions': longFunctions } } },
    rules: { 'house/long-functions': ['error', 60] },
  },
  imports(['src/lib/**', 'src/http/**', 'src/services/**'], postgres),
  imports(
    ['contract-tests/**'],
    ['\\.\\./src/', 'Contract tests are a black box: only the SDK and the operations table.'],
  ),
  imports(
    ['generated/**', 'sdk/src/**'],
    ['\\.\\./src/', 'What is generated or published knows nothing of the server.'],
  ),
  {
    files: ['**/*.test.ts', 'src/testing/**'],
    rules: {
      'no-restricted-imports': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
