// The legacy service: SOAP 1.1, data in memory. Listens on LEGACY_PORT.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const applications = new Map([
  ['GRANT00000001', { title: 'Bridges', status: 'Received', amount: '1250.50', day: '2026-03-01' }],
  ['GRANT00000002', { title: 'Rivers & lakes', status: 'Validated', amount: '900.00', day: '2026-03-02' }],
]);

// in the order of the database, with names padded to 12 characters
const opportunities = [
  { number: 'DESK-2', opens: '2026-02-01', agency: 'Water Desk  ' },
  { number: 'DESK-1', opens: '2026-01-01', agency: 'Road Desk   ' },
];

const escaped = (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const numberElement = (number) => `<c:TrackingNumber>${escaped(number)}</c:TrackingNumber>`;
const statusElement = (status) => `<c:ApplicationStatus>${status}</c:ApplicationStatus>`;
const opportunityElement = (number) => `<c:FundingOpportunityNumber>${number}</c:FundingOpportunityNumber>`;

/** Returns the content of a reply, a fault, or undefined for a one-way operation. */
const operations = {
  GetSubmissionList: () => {
    const items = [...applications].map(
      ([number, { title, status, amount, day }]) =>
        `<a:SubmissionInfo>${opportunityElement('DESK-1')}${numberElement(number)}<a:ReceivedDateTime>${day}T09:00:00Z</a:ReceivedDateTime>${statusElement(status)}<c:SubmissionTitle>${escaped(title)}</c:SubmissionTitle><a:RequestedAmount>${amount}</a:RequestedAmount></a:SubmissionInfo>`,
    );
    return `<a:Success>true</a:Success><a:AvailableApplicationNumber>${items.length}</a:AvailableApplicationNumber>${items.join('')}`;
  },
  GetOpportunityList: (body) =>
    opportunities
      .filter(({ number }) => [undefined, number].includes(textOf(body, 'FundingOpportunityNumber')))
      .map(
        ({ number, opens, agency }) =>
          `<a:OpportunityDetails>${opportunityElement(number)}<a:OpeningDate>${opens}</a:OpeningDate><a:OfferingAgency>${agency}</a:OfferingAgency></a:OpportunityDetails>`,
      )
      .join(''),
  GetApplicationInfo: withApplication(
    (number, { status, amount }) =>
      `${numberElement(number)}${statusElement(status)}<a:RequestedAmount>${amount}</a:RequestedAmount>`,
  ),
  GetApplicationZip: withApplication(
    (number) =>
      `<a:FileDataHandler>${Buffer.from(`files of ${number}`).toString('base64')}</a:FileDataHandler>`,
  ),
  ConfirmApplicationDelivery: withApplication((number, application) => {
    application.status = 'Received by Agency';
    return `${numberElement(number)}<a:ResponseMessage>delivery confirmed</a:ResponseMessage>`;
  }),
  NotifyArrival: () => undefined,
};

/** Returns the text of the first element with a local name, or undefined. */
function textOf(body, name) {
  return new RegExp(`<(?:\\w+:)?${name}\\b[^>]*>\\s*([^<]*?)\\s*<`).exec(body)?.[1];
}

/** Finds the application of a request, or answers with the fault of the WSDL. */
function withApplication(answer) {
  return (body) => {
    const number = textOf(body, 'TrackingNumber') ?? '';
    const application = applications.get(number);
    return application === undefined ? { missing: number } : answer(number, application);
  };
}

function envelope(content) {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1"><soap:Body>${content}</soap:Body></soap:Envelope>\n`;
}

function faultOf(code, reason, detail) {
  return `<soap:Fault><faultcode>soap:${code}</faultcode><faultstring>${reason}</faultstring>${detail}</soap:Fault>`;
}

/** Returns the status and the body of a reply. */
function replyTo(body) {
  const [, name = ''] = /<(?:\w+:)?Body\b[^>]*>\s*<(?:\w+:)?(\w+)Request\b/.exec(body) ?? [];
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined)
    return { status: 500, body: envelope(faultOf('Client', 'unknown operation', '')) };
  const result = operation(body);
  if (result === undefined) return { status: 202, body: '' };
  if (typeof result === 'string')
    return { status: 200, body: envelope(`<a:${name}Response>${result}</a:${name}Response>`) };
  const detail = `<detail><a:ApplicationNotFound>${numberElement(result.missing)}</a:ApplicationNotFound></detail>`;
  return { status: 500, body: envelope(faultOf('Server', 'application not found', detail)) };
}

const server = createServer(async (request, response) => {
  const { status, body } = replyTo(await text(request));
  response.writeHead(status, { 'content-type': 'text/xml; charset=utf-8' }).end(body);
});

server.listen(Number(process.env.LEGACY_PORT ?? 9091), '127.0.0.1', () => {
  process.stdout.write(`the legacy service listens on http://127.0.0.1:${server.address().port}\n`);
});
