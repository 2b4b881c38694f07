import { indentJson, indentXml } from '../../../wsdl/samples/indent.ts';

/** Indents a reply: XML and JSON get one element or member per line. Other texts are returned unchanged. */
export function indentReply(text: string, contentType: string): string {
  if (/[/+]json\b/i.test(contentType)) return isJson(text) ? indentJson(text).trimEnd() : text;
  if (!/[/+]xml\b/i.test(contentType)) return text;
  const declaration = /^<\?xml[^>]*\?>\s*/.exec(text)?.[0] ?? '';
  const xml = text.slice(declaration.length);
  // the indenter does not support comments, CDATA and processing instructions
  if (/<[!?]/.test(xml)) return text;
  return `${declaration.trim()}${declaration === '' ? '' : '\n'}${indentXml(xml).trimEnd()}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
