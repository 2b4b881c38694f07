// The new service: JSON, data in memory. Listens on NEW_PORT.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const applications = new Map([
  // copied from the legacy service
  ['GRANT00000001', { title: 'Bridges', status: 'Received', amount: 1250.5, day: '2026-03-01' }],
  ['GRANT00000002', { title: 'Rivers & lakes', status: 'Validated', amount: 900, day: '2026-03-02' }],
  // received by the new service
  ['GRANT80000001', { title: 'Tunnels', status: 'Received', amount: 4000, day: '2026-04-01' }],
]);

const opportunities = [
  { FundingOpportunityNumber: 'DESK-1', OpeningDate: '2026-01-01', OfferingAgency: 'Road Desk' },
  { FundingOpportunityNumber: 'DESK-2', OpeningDate: '2026-02-01', OfferingAgency: 'Water Desk' },
];

/** Returns the JSON of a reply, or undefined for a one-way operation. */
const operations = {
  GetSubmissionList: () => ({
    Success: true,
    AvailableApplicationNumber: applications.size,
    SubmissionInfo: [...applications].map(([number, { title, status, amount, day }]) => ({
      FundingOpportunityNumber: 'DESK-1',
      TrackingNumber: number,
      ReceivedDateTime: `${day}T09:00:00Z`,
      ApplicationStatus: status,
      SubmissionTitle: title,
      RequestedAmount: amount,
    })),
  }),
  GetOpportunityList: ({ FundingOpportunityNumber: wanted }) => ({
    OpportunityDetails: opportunities.filter(({ FundingOpportunityNumber: number }) =>
      [undefined, number].includes(wanted),
    ),
  }),
  GetApplicationInfo: withApplication((number, { status, amount }) => ({
    TrackingNumber: number,
    ApplicationStatus: status,
    RequestedAmount: amount,
  })),
  GetApplicationZip: withApplication((number) => ({
    FileDataHandler: Buffer.from(`files of ${number}`).toString('base64'),
  })),
  ConfirmApplicationDelivery: withApplication((number, application) => {
    application.status = 'Received by Agency';
    return { TrackingNumber: number, ResponseMessage: 'delivery confirmed' };
  }),
  NotifyArrival: () => undefined,
};

/** Finds the application of a request, or answers with the fault of the WSDL. */
function withApplication(answer) {
  return ({ TrackingNumber: number }) => {
    const application = applications.get(number);
    if (application !== undefined) return answer(number, application);
    return { '@fault': 'ApplicationNotFound', '@message': 'application not found', TrackingNumber: number };
  };
}

/** Returns the status and the body of a reply. */
function replyTo(name, body) {
  if (!Object.hasOwn(operations, name)) return { status: 404, body: '{"message":"unknown operation"}' };
  const result = operations[name](JSON.parse(body));
  if (result === undefined) return { status: 204, body: '' };
  return { status: '@fault' in result ? 404 : 200, body: JSON.stringify(result) };
}

const server = createServer(async (request, response) => {
  const { status, body } = replyTo((request.url ?? '').slice(1), await text(request));
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
});

server.listen(Number(process.env.NEW_PORT ?? 9092), '127.0.0.1', () => {
  process.stdout.write(`the new service listens on http://127.0.0.1:${server.address().port}\n`);
});
