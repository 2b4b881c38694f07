import { pointerSegment, type Report } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';

/** A variable in a text: `${NAME}` or `${NAME:-default}`. `$${` is the escape for a literal `${`. */
const reference = /\$(\$\{|\{([A-Za-z_]\w*)(:-([^}]*))?\}|\{)/g;

/**
 * Replaces the variables in the texts of a file by values of the environment. Keys do not change. A variable that is
 * not set and has no default is reported with its position.
 */
export function withEnvironment(
  value: unknown,
  report: Report,
  pointer = '',
  around: readonly unknown[] = [],
): unknown {
  if (typeof value === 'string') return filled(value, report, pointer);
  if (around.includes(value)) {
    report(pointer, 'expected a value, got an alias of its own parent');
    return undefined;
  }
  const within = [...around, value];
  if (Array.isArray(value))
    return value.map((item, index) => withEnvironment(item, report, `${pointer}/${index}`, within));
  if (!isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      withEnvironment(inner, report, pointer + pointerSegment(key), within),
    ]),
  );
}

function filled(text: string, report: Report, pointer: string): string {
  if (!text.includes('$')) return text;
  return text.replaceAll(reference, (_all, mark: string, name?: string, other?: string, instead?: string) => {
    if (mark === '${') return '${';
    if (name === undefined) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is how variables are written
      report(pointer, 'expected the name of a variable in ${…}, got other text. Write $${ for a literal ${');
      return '';
    }
    if (instead?.includes('${'))
      report(
        pointer,
        `expected a text without variables as the default of ${name}, got a text with a variable`,
      );
    const found = process.env[name];
    if (found !== undefined && (found !== '' || other === undefined)) return found;
    if (other === undefined) report(pointer, `expected the environment variable ${name}, got none`);
    return instead ?? '';
  });
}
