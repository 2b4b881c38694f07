import type { CredentialPart } from '../../mappings/contract/credentials.ts';
import { type Contract, namespaces } from '../../mappings/contract/model.ts';
import { indentXml } from '../../wsdl/samples/indent.ts';
import { credentialHeaders, placeholderOf, placeholdersOf } from '../../wsdl/samples/placeholders.ts';

/** A way to send credentials, with a sample. */
export interface SignInWay {
  /** Key of the heading in the language texts. */
  readonly key: 'headers' | 'basic' | 'body' | 'block' | 'wsse';
  /** Sample with a placeholder for each value, for example `YOUR_API_USER_ID`. */
  readonly sample: string;
}

/**
 * Returns the ways in which a contract accepts credentials (W24, W47), with placeholders for values.
 *
 * @param blocks the declared header blocks of an adopted contract that hold credentials (A8), as XML; `''` for none
 */
export function signInWays(contract: Contract, blocks: string): readonly SignInWay[] {
  const { credentials, wsse, namespaces: own } = contract;
  if (credentials === undefined) return [];
  const { parts, member, basic } = credentials;
  const placeholders = placeholdersOf(contract);
  const placeholder = (name: string): string => placeholders.get(name) ?? placeholderOf(name);
  const headers = credentialHeaders(contract);
  const ways: SignInWay[] = [];
  if (blocks !== '') {
    const header = `<soap:Header xmlns:soap="${namespaces.soap11}">${blocks}</soap:Header>`;
    ways.push({ key: 'block', sample: indentXml(header).trimEnd() });
  }
  ways.push({ key: 'headers', sample: headers.map(({ header, value }) => `${header}: ${value}`).join('\n') });
  if (basic !== undefined)
    ways.push({
      key: 'basic',
      sample: `curl --user '${placeholder(basic.username)}:${placeholder(basic.password)}' …`,
    });
  if (member !== undefined) {
    const members = parts.map(({ name }) => `    "${name}": "${placeholder(name)}"`);
    ways.push({ key: 'body', sample: `{\n  "${member}": {\n${members.join(',\n')}\n  }\n}` });
  } else if (credentials.block !== undefined) {
    const { element } = credentials.block;
    ways.push({
      key: 'block',
      sample: soapHeader(`<${element} xmlns="${own.types}">`, `</${element}>`, parts, placeholder),
    });
  }
  const { username, password } = wsse ?? {};
  if (username !== undefined && password !== undefined) {
    const lines = [
      `<soap:Header xmlns:soap="${namespaces.soap11}">`,
      `  <wsse:Security xmlns:wsse="${namespaces.wsse}">`,
      '    <wsse:UsernameToken>',
      `      <wsse:Username>${placeholder(username)}</wsse:Username>`,
      `      <wsse:Password>${placeholder(password)}</wsse:Password>`,
      '    </wsse:UsernameToken>',
      '  </wsse:Security>',
      '</soap:Header>',
    ];
    ways.push({ key: 'wsse', sample: lines.join('\n') });
  }
  return ways;
}

function soapHeader(
  open: string,
  close: string,
  parts: readonly CredentialPart[],
  placeholder: (name: string) => string,
): string {
  const lines = parts.map(({ xml, name }) => `    <${xml}>${placeholder(name)}</${xml}>`);
  return [
    `<soap:Header xmlns:soap="${namespaces.soap11}">`,
    `  ${open}`,
    ...lines,
    `  ${close}`,
    '</soap:Header>',
  ].join('\n');
}
