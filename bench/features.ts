import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { screeningContract } from '../mappings/loader/load.ts';
import { withConstants } from '../test/constant-limits.ts';
import type { Requests } from './load.ts';
import { freePort, median, residentMegabytes, runOn, start, stop } from './process.ts';
import { type Callee, callFor, otherCore, serverCore, usualRequests } from './small-call.ts';

/** Cost of a call with one feature enabled. */
export interface FeatureRow {
  readonly name: string;
  /** In µs, per round. */
  readonly cpuPerRequest: readonly number[];
  readonly p50: number;
  readonly p99: number;
  readonly residentMegabytes: number;
}

/** Name of the row that the others are compared with. */
export const plain = 'soapbridge';

const warmSeconds = 4;

/** Measures the small call without optional features and with each feature that has a cost, alternately. */
export async function measureFeatures(rounds: number, seconds: number): Promise<readonly FeatureRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  const limits = join(folder, 'caller-limits.yaml');
  const key = join(folder, 'key');
  writeFileSync(limits, 'each: { rate: 100000000/s }');
  writeFileSync(key, randomBytes(32), { mode: 0o600 });
  const store = await startStore();
  const collector = await startCollector();
  const upstreamPort = await freePort();
  const upstream = await start(
    otherCore,
    [join(import.meta.dirname, 'servers/upstream.ts'), String(upstreamPort)],
    'ready',
  );
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  const settings: Record<string, Setting> = {
    [plain]: {},
    'without pages': { environment: { SOAPBRIDGE_PAGES: 'off' } },
    'without metrics by operation and caller': {
      environment: withConstants({ metricOperations: 0, topCallers: 0 }),
    },
    'with TLS': behindTls(folder, upstreamUrl),
    'limits, in memory': { environment: { SOAPBRIDGE_CALLER_LIMITS: limits } },
    ...(store === undefined
      ? {}
      : {
          'limits, in Valkey or Redis': {
            environment: {
              SOAPBRIDGE_CALLER_LIMITS: limits,
              SOAPBRIDGE_CALLER_KEY: key,
              SOAPBRIDGE_LIMIT_STORE: `redis://127.0.0.1:${store.port}`,
            },
          },
        }),
    'traces, one call in a hundred': {
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
      },
    },
    'traces, every call': { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } },
  };
  const contenders: (Callee & { readonly name: string; cpu: number[]; p50: number[]; p99: number[] })[] = [];
  runOn(otherCore);
  try {
    for (const [name, setting] of Object.entries(settings)) {
      const { environment, args = [], ca, requests = usualRequests } = setting;
      const port = await freePort();
      const env = {
        ...environment,
        PORT: String(port),
        ...(args.includes('--config') ? {} : { SOAPBRIDGE_UPSTREAM_URL: upstreamUrl }),
        SOAPBRIDGE_LOG_LEVEL: 'silent',
      };
      const bin = join(import.meta.dirname, '../bin/soapbridge.js');
      const started = await start(
        serverCore,
        ['--conditions=soapbridge-source', bin, 'serve', ...args],
        'listens',
        env,
      );
      contenders.push({ name, port, requests: requests(port), started, ca, cpu: [], p50: [], p99: [] });
    }
    for (const contender of contenders) await callFor(contender, warmSeconds);
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < contenders.length; turn++) {
        const contender = contenders[(round + turn) % contenders.length];
        if (contender === undefined) continue;
        await callFor(contender, 0.4);
        const { cpuPerRequest, p50, p99 } = await callFor(contender, seconds);
        contender.cpu.push(cpuPerRequest);
        contender.p50.push(p50);
        contender.p99.push(p99);
      }
    }
    return contenders.map(({ name, cpu, p50, p99, started }) => ({
      name,
      cpuPerRequest: cpu,
      p50: median(p50),
      p99: median(p99),
      residentMegabytes: residentMegabytes(started.pid),
    }));
  } finally {
    runOn('all');
    for (const { started } of contenders) await stop(started);
    await stop(upstream);
    store?.child.kill('SIGKILL');
    collector.close();
    rmSync(folder, { recursive: true });
  }
}

/** Options for starting and calling one contender. */
interface Setting {
  readonly environment?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  /** The CA of a contender that serves TLS. */
  readonly ca?: string;
  readonly requests?: (port: number) => Requests;
}

/** Returns the options for serving TLS with a newly created certificate. */
function behindTls(folder: string, upstreamUrl: string): Setting {
  const [certificate, key] = [join(folder, 'tls.pem'), join(folder, 'tls.key')];
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1',
      ],
      ...[
        '-keyout',
        key,
        '-out',
        certificate,
        '-subj',
        '/CN=bench',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
      ],
    ],
    { stdio: 'pipe' },
  );
  const config = join(folder, 'soapbridge.yaml');
  writeFileSync(
    config,
    `tls: { certificate: tls.pem, key: tls.key }\ncontracts:\n  /v2: { contract: ${screeningContract}, upstream: ${upstreamUrl} }\n`,
  );
  return { args: ['--config', config], ca: readFileSync(certificate, 'utf8') };
}

/** Starts Valkey or Redis. Returns undefined if neither is installed. */
async function startStore(): Promise<{ readonly port: number; readonly child: ChildProcess } | undefined> {
  const tool = ['valkey-server', 'redis-server'].find((each) => spawnSync('which', [each]).status === 0);
  if (tool === undefined) return undefined;
  const port = await freePort();
  const child = spawn(tool, ['--port', String(port), '--save', ''], { stdio: 'ignore' });
  await pause(1_000);
  return { port, child };
}

/** Starts a telemetry collector that accepts and discards everything. */
async function startCollector(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
