import { fileURLToPath } from 'node:url';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isPropertyAccessExpression,
  isRegularExpressionLiteral,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Folders of the product's code. */
const product = /^(?:console|gateway|mappings|wsdl|upstream)\//;

/** A regular expression in the code of the product. */
export interface Expression {
  /** Location, for example `mappings/json/reader.ts:12`. */
  readonly place: string;
  /** A literal, or the call that creates the expression from a text. */
  readonly text: string;
  /** True if it is created from a text at run time. */
  readonly isMade: boolean;
}

/** Returns all regular expressions, found by TypeScript's parser. */
export function expressionsOfProduct(): readonly Expression[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects();
    if (project === undefined) throw new Error('expected the project of tsconfig.json, got none');
    const { program } = project;
    return program.getSourceFileNames().flatMap((file) => {
      const name = file.slice(root.length);
      const source = product.test(name) ? program.getSourceFile(file) : undefined;
      return source === undefined ? [] : expressionsOf(name, source);
    });
  } finally {
    api.close();
  }
}

function expressionsOf(name: string, source: SourceFile): readonly Expression[] {
  const found: Expression[] = [];
  const visit = (node: Node): void => {
    const isLiteral = isRegularExpressionLiteral(node);
    if (isLiteral || makesExpression(node)) {
      const start = node.getStart(source);
      const line = source.text.slice(0, start).split('\n').length;
      const text = source.text.slice(start, node.end);
      found.push({ place: `${name}:${line}`, text, isMade: !isLiteral });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** Returns true for `new RegExp(…)`, `RegExp(…)`, and string methods that create an expression from a text. */
function makesExpression(node: Node): boolean {
  if (isNewExpression(node) || isCallExpression(node)) {
    const { expression } = node;
    if (isIdentifier(expression)) return expression.text === 'RegExp';
    if (!isPropertyAccessExpression(expression) || !isIdentifier(expression.name)) return false;
    const [given] = node.arguments ?? [];
    return (
      ['match', 'matchAll', 'search'].includes(expression.name.text) &&
      given !== undefined &&
      [
        SyntaxKind.StringLiteral,
        SyntaxKind.NoSubstitutionTemplateLiteral,
        SyntaxKind.TemplateExpression,
      ].includes(given.kind)
    );
  }
  return false;
}
