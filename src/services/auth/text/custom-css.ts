import { type CssNode, generate, type List, type ListItem, parse, walk } from 'css-tree';
import { LRUCache } from 'lru-cache';
import { functions, nodes, properties, rulesWithAt } from './custom-css-allowed.ts';

/** Maximum nesting of brackets: real styles need less, and the parser recurses with each level. */
const deepest = 16;

/** Maximum number of unreadable parts before parsing stops: reporting each takes time proportional to the whole text. */
const mostUnread = 20;

/** `<` could end the style element, and a backslash can disguise one name as another. */
const never = ['<', '\\'];

/**
 * Returns the problem with a tenant's own CSS on pages that ask for passwords; undefined when there is none. Only listed features
 * are allowed: whatever browsers add later cannot load, display or cover anything until it is reviewed here.
 */
export function problemOfCss(css: string): string | undefined {
  const found = never.find((text) => css.includes(text));
  if (found !== undefined) return `must not contain ${found}`;
  if (depthOf(css) > deepest) return `must not be nested deeper than ${deepest}`;
  return tried(css).problems[0]?.text;
}

const written = new LRUCache<string, string>({ max: 500 });

/**
 * Returns the allowed part of the CSS, serialized anew, so that browsers read exactly what was checked. CSS that was stored
 * before a rule existed is reduced to it.
 */
export function safeCss(css: string): string {
  const known = written.get(css);
  if (known !== undefined) return known;
  const safe = rewritten(css);
  written.set(css, safe);
  return safe;
}

function rewritten(css: string): string {
  if (css === '' || depthOf(css) > deepest || never.some((text) => css.includes(text))) return '';
  const { tree, problems } = tried(css);
  if (tree === undefined) return '';
  const refused = new Set(problems.map(({ node }) => node));
  walk(tree, {
    leave(node: CssNode, item: ListItem<CssNode>, list: List<CssNode> | null) {
      if (list && (node.type === 'Comment' || refused.has(node))) list.remove(item);
    },
  });
  const rest = generate(tree);
  return problemOfCss(rest) === undefined ? rest : '';
}

interface Problem {
  readonly text: string;
  /** The node to remove because of the problem: the enclosing declaration or rule, or the part that could not be read. */
  readonly node: CssNode | undefined;
}

/** Thrown internally when too many parts cannot be read. */
class Unreadable extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super();
    this.problems = problems;
  }
}

function tried(css: string): { tree?: CssNode; problems: readonly Problem[] } {
  try {
    return read(css);
  } catch (error) {
    if (error instanceof Unreadable) return { problems: error.problems };
    throw error;
  }
}

function read(css: string): { tree: CssNode; problems: Problem[] } {
  const problems: Problem[] = [];
  const tree = parse(css, {
    positions: true,
    parseCustomProperty: true,
    onParseError({ line, column }) {
      problems.push({ text: `cannot be read at line ${line}, column ${column}`, node: undefined });
      if (problems.length > mostUnread) throw new Unreadable(problems);
    },
  });
  const around: CssNode[] = [];
  walk(tree, {
    enter(node: CssNode, _item: ListItem<CssNode>, list: List<CssNode> | null) {
      if (removable.has(node.type) || (node.type === 'Raw' && list)) around.push(node);
      const text = problemOfNode(node, around.at(-1));
      if (text !== undefined) problems.push({ text, node: around.at(-1) });
    },
    leave(node: CssNode) {
      if (around.at(-1) === node) around.pop();
    },
  });
  return { tree, problems };
}

const removable: ReadonlySet<string> = new Set(['Declaration', 'Rule', 'Atrule']);

function problemOfNode(node: CssNode, owner: CssNode | undefined): string | undefined {
  switch (node.type) {
    case 'Atrule':
      return rulesWithAt.has(node.name.toLowerCase()) ? undefined : `@${node.name} is not allowed`;
    case 'Declaration':
      return node.property.startsWith('--') || properties.has(node.property.toLowerCase())
        ? undefined
        : `${node.property} is not allowed`;
    case 'Function':
      return functions.has(node.name.toLowerCase()) ? undefined : `${node.name}() is not allowed`;
    case 'Url':
      return 'url() is not allowed';
    case 'String':
      // Strings are allowed for fonts and attribute selectors; elsewhere they could be URLs.
      return owner?.type === 'Declaration' && !fonts.has(owner.property.toLowerCase())
        ? `a text in ${owner.property} is not allowed`
        : undefined;
    default:
      return nodes.has(node.type) ? undefined : `${node.type} is not allowed`;
  }
}

const fonts: ReadonlySet<string> = new Set(['font', 'font-family', '--font']);

/** The nesting depth of brackets, regardless of context. */
function depthOf(css: string): number {
  let [depth, most] = [0, 0];
  for (const character of css) {
    if ('([{'.includes(character)) most = Math.max(most, (depth += 1));
    else if (')]}'.includes(character)) depth = Math.max(0, depth - 1);
  }
  return most;
}
