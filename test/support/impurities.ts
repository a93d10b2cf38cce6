/** Finds where a source text takes time, chance, identity or settings from the machine instead of an argument. */
import ts from 'typescript';

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  process: ['env', 'hrtime', 'uptime'],
  performance: ['now', 'timeOrigin'],
};
const NAMES = [
  'randomUUID',
  'randomBytes',
  'randomInt',
  'getRandomValues',
  'fetch',
  'setTimeout',
  'setInterval',
];

/** What was found, in order, as it is written: `Date.now`, `new Date()`. Comments and texts do not count. */
export function impuritiesIn(source: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const impurity = impurityOf(node);
    if (impurity !== undefined) found.push(impurity);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true));
  return found;
}

function impurityOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const { text } = node.expression;
    // Not through an own member of `MEMBERS` only: every object has a `constructor`.
    const members = Object.hasOwn(MEMBERS, text) ? MEMBERS[text] : undefined;
    return members?.includes(node.name.text) === true ? `${text}.${node.name.text}` : undefined;
  }
  // With an argument it only converts.
  if (ts.isNewExpression(node) && isDate(node.expression) && node.arguments?.length === 0)
    return 'new Date()';
  if (ts.isCallExpression(node)) {
    if (isDate(node.expression)) return 'Date()';
    const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    if (ts.isIdentifier(called) && NAMES.includes(called.text)) return called.text;
  }
  return undefined;
}

function isDate(node: ts.Node): boolean {
  return ts.isIdentifier(node) && node.text === 'Date';
}
