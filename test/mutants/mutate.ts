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

/** A file with one change. */
export interface Mutant {
  /** Path relative to the project's folder. */
  readonly file: string;
  readonly line: number;
  /** Offsets of the replaced text in the file, and its replacement. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** An offset that is executed whenever the change matters; for an operator, the start of its left side. */
  readonly reach: number;
  /** True if the code runs while its file is loaded, outside functions, so that every test reaches it. */
  readonly isTop: boolean;
  /** Identifier that does not depend on line numbers: `line's text ⟶ change`. */
  readonly name: string;
}

/** Operators with their replacements. */
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

/** Kinds of nodes that have no code at run time. */
const typeKind =
  /^(?:InterfaceDeclaration|TypeAliasDeclaration|ImportDeclaration|ExportDeclaration)$|Type$|TypeReference|TypeLiteral|TypeOperator|TypePredicate/;

/** Returns true if a number is a minimum capacity, for which a larger value is equivalent. */
function reserves({ parent }: Node): boolean {
  return (
    parent !== undefined &&
    isCallExpression(parent) &&
    isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === 'reserve'
  );
}

/**
 * Returns true for a `??` with a literal after an index, which the compiler requires even if the value always exists.
 */
function isForCompiler({ left, right }: BinaryExpression): boolean {
  return isElementAccessExpression(left) && (isNumericLiteral(right) || isStringLiteral(right));
}

/** Kinds of nodes whose content runs only when called. */
const functionKind =
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunction|MethodDeclaration|Constructor|GetAccessor|SetAccessor)$/;

/** Returns all mutants of files, found by TypeScript's parser. */
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
  const add = (start: number, end: number, text: string, reach = start): void => {
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
      reach,
      isTop: functions === 0,
      name: count === 1 ? plain : `${plain} (${count})`,
    });
  };
  const of = (node: Node, text: string, reach?: number): void =>
    add(node.getStart(source), node.end, text, reach);
  const condition = (node: Node, texts: readonly string[]): void => {
    for (const text of texts) of(node, text);
  };
  const visit = (node: Node): void => {
    if (typeKind.test(SyntaxKind[node.kind] ?? '')) return;
    if (isBinaryExpression(node)) {
      const operator = node.operatorToken;
      const sign = whole.slice(operator.getStart(source), operator.end);
      for (const other of operators[sign] ?? []) of(operator, other, node.getStart(source));
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
