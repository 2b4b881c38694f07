import { encodedReason } from '../../../mappings/codec/element.ts';
import type { Deviation } from '../../../mappings/codec/problem.ts';
import { namespaceText } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledOperation, Frame } from '../../../mappings/compile.ts';
import type { XmlReader } from '../../../mappings/xml/reader.ts';
import type { Dispatch } from './dispatch.ts';
import { Fault, refuse } from './faults.ts';
import type { HeaderFindings } from './headers/header-block.ts';
import type { ReadHeader } from './headers/headers.ts';
import { headerOfReply, type ReplyHeader } from './headers/reply-header.ts';
import { envelopeFrame, type SoapVersion, soap11, soap12 } from './versions.ts';

/** What the text up to the payload's start tag says. */
export interface Opening {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** Whether Body has nothing in it (A7). */
  readonly isEmpty: boolean;
  /** The tolerated deviation of the body's element; undefined for none. */
  readonly deviation: Deviation | undefined;
}

/** What is known of a request while it is read, for the fault of whatever comes next. */
export interface Findings extends HeaderFindings {
  version: SoapVersion;
  headerBlocks: number;
  /** Where its start tag ends, in characters; 0: there is no Header. */
  headerStart: number;
  headerEndTag: string;
}

export function startFindings(version: SoapVersion, actions: readonly string[]): Findings {
  return {
    version,
    actions: [...actions],
    declared: [],
    headerBlocks: 0,
    headerStart: 0,
    headerEndTag: '',
    credentials: undefined,
    token: undefined,
    isSecurityUnread: false,
    reply: undefined,
    fault: undefined,
  };
}

function envelopeVersion(xml: XmlReader, claimed: SoapVersion): SoapVersion {
  if (xml.local !== 'Envelope') {
    refuse(claimed, { expected: 'a SOAP Envelope', got: `<${xml.local.slice(0, 64)}>` });
  }
  if (xml.namespace === soap11.namespace) return soap11;
  if (xml.namespace === soap12.namespace) return soap12;
  throw new Fault(claimed, 'VersionMismatch', {
    expected: `an Envelope of SOAP 1.1 (${soap11.namespace}) or SOAP 1.2 (${soap12.namespace})`,
    got: `one in ${namespaceText(xml.namespace)}`,
  });
}

/** At most one Header, then a Body, blanks between (W41), up to the start tag of what is in Body. */
export function openEnvelope(
  xml: XmlReader,
  readHeader: ReadHeader,
  { find, deviationOf }: Dispatch,
  findings: Findings,
): Opening {
  xml.readRoot();
  const soapVersion = envelopeVersion(xml, findings.version);
  findings.version = soapVersion;
  if (soapVersion === soap12) {
    for (let index = 0; index < xml.attributeCount; index++) {
      if (xml.attributeNamespace(index) === '')
        refuse(soapVersion, { expected: 'no attribute without namespace on Envelope (SOAP 1.2)' });
    }
  }
  for (let seenHeader = false; ; seenHeader = true) {
    if (!xml.nextChild()) {
      refuseStray(xml, soapVersion);
      refuse(soapVersion, { expected: 'a Body in Envelope', got: 'none' });
    }
    const ours = xml.namespace === soapVersion.namespace;
    if (ours && xml.local === 'Body') break;
    if (!ours || xml.local !== 'Header' || seenHeader) {
      const expected = seenHeader ? 'Body' : 'Header or Body';
      refuse(soapVersion, {
        expected: `${expected} of the Envelope's namespace`,
        got: `<${xml.local.slice(0, 64)}>`,
      });
    }
    findings.headerStart = xml.position;
    findings.headerEndTag = `</${xml.prefix === '' ? '' : `${xml.prefix}:`}Header>`;
    findings.headerBlocks = readHeader(xml, soapVersion, findings);
  }
  const isEmpty = !xml.nextChild();
  if (isEmpty && xml.stray) refuse(soapVersion, { expected: 'one element in Body', got: 'text' });
  const element = isEmpty ? undefined : xml;
  const operation = find(element, findings.actions, soapVersion);
  return { version: soapVersion, operation, isEmpty, deviation: deviationOf(operation, element) };
}

/** From the payload's end tag to that of Body: nothing more is in it (W41). */
export function closeBody(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    const encoded = encodedReason(xml);
    if (encoded !== undefined) refuse(soapVersion, encoded);
    refuse(soapVersion, { expected: 'one element in Body', got: `<${xml.local.slice(0, 64)}> after it` });
  }
  if (xml.stray) refuse(soapVersion, { expected: 'one element in Body', got: 'text beside it' });
}

/** From Body's end tag to the end of the document: nothing after it (W41). */
export function closeEnvelope(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    refuse(soapVersion, { expected: 'nothing after Body', got: `<${xml.local.slice(0, 64)}>` });
  }
  refuseStray(xml, soapVersion);
  xml.finish();
}

function refuseStray(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.stray) refuse(soapVersion, { expected: 'only blanks between the parts of Envelope', got: 'text' });
}

/** The envelope of an operation's reply or in-band error, with what its Header answers of the request's (W28). */
export function replyFrame(
  version: SoapVersion,
  action: string | undefined,
  header: ReplyHeader | undefined,
): Frame {
  if (header === undefined || action === undefined) return version.frame;
  const text = headerOfReply(header, action);
  return text === '' ? version.frame : envelopeFrame(version.namespace, text);
}

/** The same of a reply that may be a message of MTOM, whose values of so many bytes are parts (W65). */
export function mtomFrame(frame: Frame, attachFrom: number): Frame {
  return { ...frame, attachFrom };
}
