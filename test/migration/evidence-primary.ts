import cluster, { type Worker } from 'node:cluster';
import { Evidence } from '../../gateway/migration/evidence.ts';
import { openEvidence } from '../../gateway/process/evidence-keeper.ts';
import { shareEvidence, WorkerEvidence } from '../../gateway/process/worker-evidence.ts';

// A primary with two workers, for the test of their evidence. It is controlled by messages of its parent.

const [settings = ''] = process.argv.slice(2);
const silent = { info: () => {}, warn: () => {}, error: () => {} };

if (cluster.isPrimary) {
  const evidence = new WorkerEvidence(() => openEvidence(undefined, silent), 50);
  const workers = [cluster.fork(), cluster.fork()] as const;
  for (const worker of workers) evidence.add(worker);
  const ended = (worker: Worker) => new Promise((resolve) => worker.once('exit', resolve));
  process.on('message', async (message: string) => {
    const [first, second] = workers;
    if (message === 'add 10 and kill') {
      const gone = ended(first);
      // it does not answer while it is stopped, so these calls are lost
      first.process.kill('SIGSTOP');
      first.send({ add: 10 });
      first.process.kill('SIGKILL');
      await gone;
      process.send?.('killed');
    } else if (message === 'add 100') second.send({ add: 100 });
    else {
      const gone = ended(second);
      second.send({ add: 1_000, stop: true });
      await gone;
      await evidence.close();
      process.exit(0);
    }
  });
} else {
  const parts = { contract: '/', maxFindings: 10, reasons: [], pseudonymOf: undefined };
  const own = new Evidence(parts);
  const add = (calls: number): void => {
    for (let call = 0; call < calls; call++)
      own.add({
        operation: 'GetSubmissionList',
        callerKey: 'id acme',
        callerName: 'acme',
        requestId: 'r',
        comparison: { result: 'equal', differences: [], explained: [], notes: [], more: 0 },
        at: 1,
      });
  };
  add(1);
  const send = shareEvidence(() => [{ settings: JSON.parse(settings), data: own.take() }], 20);
  process.on('message', async (message: { readonly add?: number; readonly stop?: boolean }) => {
    if (message.add !== undefined) add(message.add);
    if (message.stop === true) {
      await send();
      process.exit(0);
    }
  });
}
