import type { RequestSample } from '../samples/samples.ts';
import { type Arguments, argumentsOf, type Literals, writeLiteral } from './arguments.ts';
import { plainText, withoutTemplates } from './collections.ts';

/** A program that makes one call with one client stack. */
export interface Snippet {
  /** Identifier like `curl`, the last segment of the address at which it is served. */
  readonly id: string;
  /** Display name of the stack. */
  readonly title: string;
  /** Name of the file. */
  readonly file: string;
  readonly text: string;
  /** True if tests run this program against the gateway. The others are marked `not run`. */
  readonly isRun: boolean;
}

/** The call that a program makes. */
export interface SnippetCall {
  readonly operation: string;
  /** The contract's address, without a slash at the end. */
  readonly address: string;
  /** URL of the WSDL. */
  readonly wsdl: string;
  /** Requests in SOAP 1.1 and 1.2. */
  readonly soap11: RequestSample;
  readonly soap12: RequestSample;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: string };
  /** True if the message uses SOAP encoding, which plain arguments cannot express. */
  readonly isEncoded: boolean;
}

/** Returns one program per stack for a call, in display order. */
export function snippetsOf(call: SnippetCall): readonly Snippet[] {
  const optional = call.soap11.credentials.filter(({ required }) => !required);
  const names = [...new Set(optional.map(({ header }) => header.replace(/[\r\n]+/g, ' ')))].join(', ');
  return stacks.map(({ comment, write, ...stack }) => {
    const marks = [
      ...(stack.isRun ? [] : ['Not run: this stack is not among those that are tested here.']),
      ...(names === '' ? [] : [`Optional credentials; remove them if you have none: ${names}.`]),
    ];
    const lines = comment === undefined ? [] : marks.map((mark) => `${comment} ${mark}\n`);
    return { ...stack, text: withMark(write(call), lines.join('')) };
  });
}

/** A stack and the comment syntax of its language. */
interface Stack extends Omit<Snippet, 'text'> {
  /** Prefix of a comment line. Undefined for a file format without comments. */
  readonly comment: string | undefined;
  readonly write: (call: SnippetCall) => string;
}

/** Inserts a text before the program, but after a first line that must remain first. */
function withMark(text: string, mark: string): string {
  const first = /^(?:#!|<\?php)[^\n]*\n/.exec(text)?.[0] ?? '';
  return first + mark + text.slice(first.length);
}

function headersOf(call: SnippetCall): readonly (readonly [string, string])[] {
  const { soap11 } = call;
  return [['Content-Type', soap11.contentType], ...Object.entries(soap11.headers), ...credentialsOf(call)];
}

/** Returns the HTTP headers of the credentials that are not in the envelope. */
function credentialsOf({ soap11 }: SnippetCall): readonly (readonly [string, string])[] {
  return soap11.credentials.map(({ header, value }) => [header, value]);
}

/** Returns the arguments of the call. An element without content has no arguments. */
function valuesOf({ soap11 }: SnippetCall): Arguments {
  const values = argumentsOf(soap11.text);
  return values === '' ? new Map() : values;
}

/** Returns the header blocks in one element, for stacks that take XML. */
function blocksOf({ soap11 }: SnippetCall): string {
  return soap11.blocks === '' ? '' : `<Header>${soap11.blocks}</Header>`;
}

function endpointOf({ address, soap11 }: SnippetCall): string {
  return address + soap11.path;
}

const json = (text: string): string =>
  JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
const single = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns a heredoc delimiter that does not occur in the text, since values may come from an untrusted document. */
function endOf(text: string): string {
  let word = 'END_OF_MESSAGE';
  while (text.includes(word)) word += '_';
  return word;
}

// --- stacks with arguments -----------------------------------------------------------------------------

const python: Literals = {
  open: '{',
  close: '}',
  key: (name) => `${json(name)}: `,
  // zeep needs Python objects for these values
  text: (text) => {
    if (text === 'true' || text === 'false') return text === 'true' ? 'True' : 'False';
    if (text === 'AAEC') return 'b"\\x00\\x01\\x02"';
    if (/^P(?:\d+D)?(?:T\d+H)?$/.test(text) && text.length > 1)
      return `isodate.parse_duration(${json(text)})`;
    return json(text);
  },
};

function zeep(call: SnippetCall): string {
  const { operation, wsdl, isEncoded } = call;
  const credentials = credentialsOf(call);
  const headers = credentials.map(([name, value]) => `    ${json(name)}: ${json(value)},\n`).join('');
  const session =
    credentials.length === 0
      ? ''
      : `import requests\n\nsession = requests.Session()\nsession.headers.update({\n${headers}})\n`;
  const transport = credentials.length === 0 ? '' : ', transport=zeep.Transport(session=session)';
  const given = valuesOf(call);
  const values = writeLiteral(given, python);
  const durations = values.includes('isodate.') ? 'import isodate\n' : '';
  const encoded = isEncoded
    ? '# The message has SOAP encoding, which these arguments may not express; curl has the envelope.\n'
    : '';
  const blocks = blocksOf(call);
  const etree = blocks === '' ? '' : 'from lxml import etree\n';
  const parsed = blocks === '' ? '' : `headers = list(etree.fromstring(${json(blocks)}))\n`;
  // an element of a simple type is one positional argument
  const passed = typeof given === 'string' ? 'arguments' : '**arguments';
  const soapHeaders = blocks === '' ? '' : ', _soapheaders=headers';
  return `# pip install zeep\n${encoded}import zeep\n${durations}${etree}${session}\nclient = zeep.Client(${json(wsdl)}${transport})\n${parsed}arguments = ${values}\nprint(client.service[${json(operation)}](${passed}${soapHeaders}))\n`;
}

const php: Literals = {
  open: '[',
  close: ']',
  key: (name) => `${single(name)} => `,
  text: (text) => {
    if (text === 'true' || text === 'false') return text;
    return text === 'AAEC' ? '"\\x00\\x01\\x02"' : single(text);
  },
};

function phpSoap(call: SnippetCall): string {
  const { operation, wsdl, soap11 } = call;
  const lines = credentialsOf(call)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
  const context =
    lines === ''
      ? ''
      : `    'stream_context' => stream_context_create(['http' => ['header' => ${json(lines).replaceAll('$', '\\$')}]]),\n`;
  const values = writeLiteral(valuesOf(call), php);
  // XSD_ANYXML is written unchanged, in place of an element with the header's name
  const blocks =
    soap11.blocks === ''
      ? ''
      : `$client->__setSoapHeaders(new SoapHeader('urn:blocks', 'blocks', new SoapVar(${single(soap11.blocks)}, XSD_ANYXML)));\n`;
  return `<?php\n// apt install php-soap\n$client = new SoapClient(${single(wsdl)}, [\n    'soap_version' => SOAP_1_1,\n    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,\n    'exceptions' => true,\n${context}]);\n${blocks}print_r($client->__soapCall(${single(operation)}, [${values}]));\n`;
}

const script: Literals = {
  open: '{',
  close: '}',
  key: (name) => `${json(name)}: `,
  text: json,
};

function nodeSoap(call: SnippetCall): string {
  const { operation, wsdl, soap11 } = call;
  const headers = credentialsOf(call)
    .map(([name, value]) => `client.addHttpHeader(${json(name)}, ${json(value)});\n`)
    .join('');
  const blocks = soap11.blocks === '' ? '' : `client.addSoapHeader(${json(soap11.blocks)});\n`;
  const values = writeLiteral(valuesOf(call), script);
  return `// npm install soap\nimport soap from 'soap';\n\nconst client = await soap.createClientAsync(${json(wsdl)});\n${headers}${blocks}const [reply] = await client[${json(`${operation}Async`)}](${values});\nconsole.log(JSON.stringify(reply, null, 2));\n`;
}

// --- stacks with a raw envelope ------------------------------------------------------------------------

function curl(call: SnippetCall): string {
  const end = endOf(call.soap11.text);
  const headers = headersOf(call).map(([name, value]) => `  -H ${shell(`${name}: ${value}`)} \\\n`);
  return `#!/bin/sh\ncurl -sS --fail-with-body ${shell(endpointOf(call))} \\\n${headers.join('')}  --data-binary @- <<'${end}'\n${call.soap11.text.trimEnd()}\n${end}\n`;
}

/**
 * Writes an HTTP message that is also a file for the HTTP clients of VS Code and JetBrains. These clients expand
 * `{{…}}` and treat lines that start with `###`, `@`, `#`, `//`, `<` or `>` as directives. So no value of the document
 * may start a line or a template.
 */
function rawHttp(call: SnippetCall): string {
  const url = new URL(endpointOf(call));
  const body = withoutTemplates('xml', call.soap11.text).replace(/\n([ \t]*[^<\s])/g, '&#10;$1');
  const length = new TextEncoder().encode(body).length;
  const headers = [
    ['Host', url.host],
    ...headersOf(call),
    ['Content-Length', String(length)],
    ['Connection', 'close'],
  ];
  const lines = headers.map(([name = '', value = '']) => `${name}: ${plainText(value)}\r\n`).join('');
  return `POST ${plainText(url.pathname)} HTTP/1.1\r\n${lines}\r\n${body}`;
}

function perl(call: SnippetCall): string {
  const end = endOf(call.soap11.text);
  const headers = headersOf(call).map(([name, value]) => `    ${single(name)} => ${single(value)},\n`);
  return `#!/usr/bin/perl\nuse strict;\nuse warnings;\nuse HTTP::Tiny;\n\nmy $message = <<'${end}';\n${call.soap11.text.trimEnd()}\n${end}\nmy $reply = HTTP::Tiny->new->post(${single(endpointOf(call))}, {\n  headers => {\n${headers.join('')}  },\n  content => $message,\n});\nprint $reply->{content};\ndie "status $reply->{status}\\n" unless $reply->{success};\n`;
}

function go(call: SnippetCall): string {
  const { soap11 } = call;
  const text = soap11.text.includes('`') ? json(soap11.text) : `\`${soap11.text}\``;
  const headers = headersOf(call).map(
    ([name, value]) => `\trequest.Header.Set(${json(name)}, ${json(value)})\n`,
  );
  return `package main\n\nimport (\n\t"fmt"\n\t"io"\n\t"log"\n\t"net/http"\n\t"strings"\n)\n\nconst message = ${text}\n\nfunc main() {\n\trequest, err := http.NewRequest("POST", ${json(endpointOf(call))}, strings.NewReader(message))\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n${headers.join('')}\treply, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer reply.Body.Close()\n\tbody, err := io.ReadAll(reply.Body)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(string(body))\n\tif reply.StatusCode >= 300 {\n\t\tlog.Fatal(reply.Status)\n\t}\n}\n`;
}

/** Writes a JAX-WS program without generated classes. CXF and the reference implementation run the same program. */
function dispatch(call: SnippetCall, className: string, head: string): string {
  const { service, soap11 } = call;
  const action = soap11.headers.SOAPAction?.replace(/^"|"$/g, '') ?? '';
  const headers = credentialsOf(call).map(
    ([name, value]) => `    headers.put(${json(name)}, List.of(${json(value)}));\n`,
  );
  return `${head}import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.handler.MessageContext;
import jakarta.xml.ws.soap.SOAPBinding;
import java.io.StringReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

public class ${className} {
  public static void main(String[] arguments) throws Exception {
    String message = ${javaText(soap11.text)};
    QName port = new QName(${json(service.namespace)}, ${json(service.port)});
    Service service = Service.create(new QName(${json(service.namespace)}, ${json(service.name)}));
    service.addPort(port, SOAPBinding.SOAP11HTTP_BINDING, ${json(endpointOf(call))});
    Dispatch<Source> call = service.createDispatch(port, Source.class, Service.Mode.MESSAGE);
    Map<String, Object> context = call.getRequestContext();
    context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
    context.put(BindingProvider.SOAPACTION_URI_PROPERTY, ${json(action)});
    Map<String, List<String>> headers = new HashMap<>();
${headers.join('')}    context.put(MessageContext.HTTP_REQUEST_HEADERS, headers);
    Source reply = call.invoke(new StreamSource(new StringReader(message)));
    TransformerFactory.newInstance().newTransformer().transform(reply, new StreamResult(System.out));
  }
}
`;
}

/** Writes a text as Java string literals, one per line. */
function javaText(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => json(`${line}\n`))
    .join('\n      + ');
}

function jaxWs(call: SnippetCall): string {
  const head = `// Without classes, by javax.xml.ws or jakarta.xml.ws of any JAX-WS.\n// For classes: wsimport -keep -p client ${call.wsdl}\n`;
  return dispatch(call, 'JaxWsCall', head);
}

function cxf(call: SnippetCall): string {
  const head = `// org.apache.cxf:cxf-rt-frontend-jaxws and cxf-rt-transports-http.\n// For classes: wsdl2java -p client ${call.wsdl}\n`;
  return dispatch(call, 'CxfCall', head);
}

function cSharp(call: SnippetCall): string {
  const { soap11 } = call;
  const headers = [...Object.entries(soap11.headers), ...credentialsOf(call)]
    .map(([name, value]) => `request.Headers.TryAddWithoutValidation(${json(name)}, ${json(value)});\n`)
    .join('');
  return `// For classes: dotnet-svcutil ${call.wsdl}
using System.Net.Http.Headers;
using System.Text;

var message = @"${soap11.text.trimEnd().replaceAll('"', '""')}";
using var client = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.Post, ${json(endpointOf(call))});
request.Content = new StringContent(message, Encoding.UTF8);
request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(${json(soap11.contentType)});
${headers}using var reply = await client.SendAsync(request);
Console.WriteLine(await reply.Content.ReadAsStringAsync());
reply.EnsureSuccessStatusCode();
`;
}

function powerShell(call: SnippetCall): string {
  const { soap11 } = call;
  // typographic quotes end a PowerShell string too
  const quoted = (value: string): string => `'${value.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  const headers = [...Object.entries(soap11.headers), ...credentialsOf(call)]
    .map(([name, value]) => `  ${quoted(name)} = ${quoted(value)}\n`)
    .join('');
  return `$message = ${quoted(soap11.text.trimEnd())}
$headers = @{
${headers}}
$reply = Invoke-WebRequest -Method Post -Uri ${quoted(endpointOf(call))} -Headers $headers -ContentType ${quoted(soap11.contentType)} -Body ([Text.Encoding]::UTF8.GetBytes($message))
$reply.Content
`;
}

const stacks: readonly Stack[] = [
  { id: 'curl', title: 'curl', file: 'call.sh', comment: '#', isRun: true, write: curl },
  { id: 'csharp', title: 'C# (.NET)', file: 'Program.cs', comment: '//', isRun: false, write: cSharp },
  { id: 'jaxws', title: 'Java (JAX-WS)', file: 'JaxWsCall.java', comment: '//', isRun: true, write: jaxWs },
  { id: 'cxf', title: 'Java (CXF)', file: 'CxfCall.java', comment: '//', isRun: false, write: cxf },
  { id: 'php', title: 'PHP (SoapClient)', file: 'call.php', comment: '//', isRun: true, write: phpSoap },
  { id: 'zeep', title: 'Python (zeep)', file: 'call_zeep.py', comment: '#', isRun: true, write: zeep },
  { id: 'node', title: 'Node (soap)', file: 'call.mjs', comment: '//', isRun: true, write: nodeSoap },
  { id: 'perl', title: 'Perl (HTTP::Tiny)', file: 'call.pl', comment: '#', isRun: true, write: perl },
  { id: 'go', title: 'Go (net/http)', file: 'call.go', comment: '//', isRun: true, write: go },
  { id: 'powershell', title: 'PowerShell', file: 'call.ps1', comment: '#', isRun: false, write: powerShell },
  { id: 'http', title: 'HTTP', file: 'call.http', comment: undefined, isRun: true, write: rawHttp },
];
