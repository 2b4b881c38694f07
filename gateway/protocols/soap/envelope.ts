import { encodedReason } from '../../../mappings/codec/element.ts';
import type { Deviation } from '../../../mappings/codec/problem.ts';
import { namespaceText } from '../../../mappings/codec/scalars/text.ts';
import type { CompiledOperation, Frame } from '../../../mappings/compile.ts';
import { quoteElement, quoteValue } from '../../../mappings/contract/reason.ts';
import type { XmlReader } from '../../../mappings/xml/reader.ts';
import type { Dispatch } from './dispatch.ts';
import { Fault, refuse } from './faults.ts';
import type { HeaderFindings } from './headers/header-block.ts';
import type { ReadHeader } from './headers/headers.ts';
import { headerOfReply, type ReplyHeader, signedBlockOf } from './headers/reply-header.ts';
import { envelopeFrame, type SoapVersion, soap11, soap12 } from './versions.ts';

/** Result of reading an envelope up to the start tag of the payload. */
export interface Opening {
  readonly version: SoapVersion;
  readonly operation: CompiledOperation;
  /** True if Body is empty (A7). */
  readonly isEmpty: boolean;
  /** The tolerated deviation of the body's element; undefined for none. */
  readonly deviation: Deviation | undefined;
}

/** Data of a request while it is read. Faults of later stages use it. */
export interface Findings extends HeaderFindings {
  version: SoapVersion;
  headerBlocks: number;
}

export function startFindings(version: SoapVersion, actions: readonly string[]): Findings {
  return {
    version,
    actions: [...actions],
    declared: [],
    headerBlocks: 0,
    values: undefined,
    reply: undefined,
    fault: undefined,
  };
}

function envelopeVersion(xml: XmlReader, claimed: SoapVersion): SoapVersion {
  if (xml.local !== 'Envelope') {
    refuse(claimed, { expected: 'a SOAP Envelope', got: quoteElement(xml.local) });
  }
  if (xml.namespace === soap11.namespace) return soap11;
  if (xml.namespace === soap12.namespace) return soap12;
  throw new Fault(claimed, 'VersionMismatch', {
    expected: `an Envelope of SOAP 1.1 (${soap11.namespace}) or SOAP 1.2 (${soap12.namespace})`,
    got: quoteValue(`an Envelope in ${namespaceText(xml.namespace)}`),
  });
}

/**
 * Reads an envelope up to the start tag of the element in Body: at most one Header, then a Body, with only white space
 * between them (W41). Throws Fault.
 */
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
      refuseText(xml, soapVersion);
      refuse(soapVersion, { expected: 'a Body in Envelope', got: 'none' });
    }
    const ours = xml.namespace === soapVersion.namespace;
    if (ours && xml.local === 'Body') break;
    if (!ours || xml.local !== 'Header' || seenHeader) {
      const expected = seenHeader ? 'Body' : 'Header or Body';
      refuse(soapVersion, {
        expected: `${expected} of the Envelope's namespace`,
        got: quoteElement(xml.local),
      });
    }
    findings.headerBlocks = readHeader(xml, soapVersion, findings);
  }
  const isEmpty = !xml.nextChild();
  if (isEmpty && xml.hasText) refuse(soapVersion, { expected: 'one element in Body', got: 'text' });
  const element = isEmpty ? undefined : xml;
  const operation = find(element, findings.actions, soapVersion);
  return { version: soapVersion, operation, isEmpty, deviation: deviationOf(operation, element) };
}

/** Checks that nothing follows the payload in Body (W41). Throws Fault. */
export function closeBody(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    const encoded = encodedReason(xml);
    if (encoded !== undefined) refuse(soapVersion, encoded);
    refuse(soapVersion, { expected: 'one element in Body', got: quoteElement(xml.local, ' after it') });
  }
  if (xml.hasText) refuse(soapVersion, { expected: 'one element in Body', got: 'additional text' });
}

/** Checks that nothing follows Body (W41). Throws Fault. */
export function closeEnvelope(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.nextChild()) {
    refuse(soapVersion, { expected: 'nothing after Body', got: quoteElement(xml.local) });
  }
  refuseText(xml, soapVersion);
  xml.finish();
}

function refuseText(xml: XmlReader, soapVersion: SoapVersion): void {
  if (xml.hasText)
    refuse(soapVersion, { expected: 'only white space between the parts of Envelope', got: 'text' });
}

/**
 * Returns the envelope of an operation's reply or in-band error, with a Header that answers the request's Header (W28).
 */
export function replyFrame(
  version: SoapVersion,
  action: string | undefined,
  header: ReplyHeader | undefined,
): Frame {
  const signedBlock = signedBlockOf(header);
  const text = header === undefined || action === undefined ? '' : headerOfReply(header, action);
  if (text === '' && signedBlock === undefined) return version.frame;
  const frame = envelopeFrame(version.namespace, text, signedBlock);
  const answered = header?.security?.answered;
  return answered === undefined ? frame : { ...frame, answered };
}

/**
 * Returns the frame of a reply that may be an MTOM message. Values of at least `attachFrom` bytes become parts (W65).
 */
export function mtomFrame(frame: Frame, attachFrom: number): Frame {
  return { ...frame, attachFrom };
}
