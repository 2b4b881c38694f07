import { type Contract, type CredentialPart, namespaces } from '../../mappings/contract/model.ts';

/** A way to give credentials, as a sample. */
export interface SignInWay {
  /** Which it is; the texts of languages have a heading for each. */
  readonly key: 'headers' | 'basic' | 'body' | 'block' | 'wsse';
  /** What it looks like, with a placeholder such as `YOUR-apiUserId` for each value. */
  readonly sample: string;
}

/** All ways in which a contract takes credentials (W24, W47), none of which holds a value of anybody. */
export function signInWays({ credentials, wsse, namespaces: own, adopted }: Contract): readonly SignInWay[] {
  if (credentials === undefined) return [];
  const { parts, member, basic } = credentials;
  const ways: SignInWay[] = [
    { key: 'headers', sample: parts.map(({ header, name }) => `${header}: ${placeholder(name)}`).join('\n') },
  ];
  if (basic !== undefined)
    ways.push({
      key: 'basic',
      sample: `curl --user '${placeholder(basic.username)}:${placeholder(basic.password)}' …`,
    });
  if (member !== undefined) {
    const members = parts.map(({ name }) => `    "${name}": "${placeholder(name)}"`);
    ways.push({ key: 'body', sample: `{\n  "${member}": {\n${members.join(',\n')}\n  }\n}` });
  } else if (adopted === undefined) {
    ways.push({
      key: 'block',
      sample: soapHeader(`<Credentials xmlns="${own.types}">`, '</Credentials>', parts),
    });
  }
  if (wsse !== undefined) {
    const lines = [
      `<soap:Header xmlns:soap="${namespaces.soap11}">`,
      `  <wsse:Security xmlns:wsse="${namespaces.wsse}">`,
      '    <wsse:UsernameToken>',
      `      <wsse:Username>${placeholder(wsse.username)}</wsse:Username>`,
      `      <wsse:Password>${placeholder(wsse.password)}</wsse:Password>`,
      '    </wsse:UsernameToken>',
      '  </wsse:Security>',
      '</soap:Header>',
    ];
    ways.push({ key: 'wsse', sample: lines.join('\n') });
  }
  return ways;
}

/** What stands in a sample for a value that its reader has. */
export function placeholder(name: string): string {
  return `YOUR-${name}`;
}

function soapHeader(open: string, close: string, parts: readonly CredentialPart[]): string {
  const lines = parts.map(({ xml, name }) => `    <${xml}>${placeholder(name)}</${xml}>`);
  return [
    `<soap:Header xmlns:soap="${namespaces.soap11}">`,
    `  ${open}`,
    ...lines,
    `  ${close}`,
    '</soap:Header>',
  ].join('\n');
}
