import { fileURLToPath } from 'node:url';
import { type BinaryExpression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  isWhileStatement,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

/** The folder of the project, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** A file with one thing in it changed. */
export interface Mutant {
  /** From the project's folder. */
  readonly file: string;
  readonly line: number;
  /** Offsets in the file's text, and what stands there instead. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Offset of what runs wherever the change is run into: of an operator its left side, as the right one may be left out. */
  readonly runs: number;
  /** Whether it runs as its file is loaded, by no function: every test is behind it. */
  readonly isTop: boolean;
  /** What it is known by, whatever the lines before: `line's text ⟶ change`. */
  readonly name: string;
}

/** Operators, each with what takes its place. */
const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '+=': ['-='],
  '-=': ['+='],
};

/** Kinds of nodes that nothing is left of when the code runs. */
const typeKind =
  /^(?:InterfaceDeclaration|TypeAliasDeclaration|ImportDeclaration|ExportDeclaration)$|Type$|TypeReference|TypeLiteral|TypeOperator|TypePredicate/;

/** Whether a number is how much room there has to be at least: a little more is as good. */
function reserves({ parent }: Node): boolean {
  return (
    parent !== undefined &&
    isCallExpression(parent) &&
    isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === 'reserve'
  );
}

/** Whether a `??` gives a plain value behind an index, which the compiler asks for whether or not there is always one. */
function isForCompiler({ left, right }: BinaryExpression): boolean {
  return isElementAccessExpression(left) && (isNumericLiteral(right) || isStringLiteral(right));
}

/** Kinds of nodes whose content runs when they are called. */
const functionKind =
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunction|MethodDeclaration|Constructor|GetAccessor|SetAccessor)$/;

/** All mutants of files, by TypeScript's own parser. */
export function mutantsOf(files: readonly string[]): readonly Mutant[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects();
    if (project === undefined) throw new Error('expected the project of tsconfig.json, got none');
    const { program } = project;
    return files.flatMap((file) => {
      const source = program.getSourceFile(`${root}${file}`);
      if (source === undefined) throw new Error(`expected ${file} in the project, got none`);
      return mutantsIn(file, source);
    });
  } finally {
    api.close();
  }
}

function mutantsIn(file: string, source: SourceFile): readonly Mutant[] {
  const found: Mutant[] = [];
  const names = new Map<string, number>();
  const { text: whole } = source;
  let functions = 0;
  const add = (start: number, end: number, text: string, runs: number): void => {
    const lineStart = whole.lastIndexOf('\n', start - 1) + 1;
    const lineEnd = whole.indexOf('\n', start);
    const line = whole.slice(0, start).split('\n').length;
    const before = whole.slice(start, end).replace(/\s+/g, ' ').slice(0, 60);
    const plain = `${whole.slice(lineStart, lineEnd).trim()} ⟶ ${before} → ${text === '' ? 'nothing' : text}`;
    const count = (names.get(plain) ?? 0) + 1;
    names.set(plain, count);
    found.push({
      file,
      line,
      start,
      end,
      text,
      runs,
      isTop: functions === 0,
      name: count === 1 ? plain : `${plain} (${count})`,
    });
  };
  const of = (node: Node, text: string, first: Node = node): void =>
    add(node.getStart(source), node.end, text, first.getStart(source));
  const condition = (node: Node, texts: readonly string[]): void => {
    for (const text of texts) of(node, text);
  };
  const visit = (node: Node): void => {
    if (typeKind.test(SyntaxKind[node.kind] ?? '')) return;
    if (isBinaryExpression(node)) {
      const operator = node.operatorToken;
      const sign = whole.slice(operator.getStart(source), operator.end);
      for (const other of operators[sign] ?? []) of(operator, other, node.left);
      if (sign === '??' && !isForCompiler(node))
        of(node, whole.slice(node.left.getStart(source), node.left.end));
    } else if (isIfStatement(node)) condition(node.expression, ['true', 'false']);
    else if (isWhileStatement(node)) condition(node.expression, ['false']);
    else if (isConditionalExpression(node)) condition(node.condition, ['true', 'false']);
    else if (isPrefixUnaryExpression(node) && whole[node.getStart(source)] === '!')
      of(node, whole.slice(node.operand.getStart(source), node.operand.end));
    else if (isNumericLiteral(node) && !reserves(node)) of(node, `${Number(node.text) + 1}`);
    else if (isStringLiteral(node)) of(node, node.text === '' ? "'mutant'" : "''");
    else if (node.kind === SyntaxKind.TrueKeyword) of(node, 'false');
    else if (node.kind === SyntaxKind.FalseKeyword) of(node, 'true');
    if (isExpressionStatement(node) && !whole.startsWith('super', node.getStart(source))) of(node, ';');
    const isFunction = functionKind.test(SyntaxKind[node.kind] ?? '');
    if (isFunction) functions++;
    node.forEachChild(visit);
    if (isFunction) functions--;
  };
  visit(source);
  return found;
}
