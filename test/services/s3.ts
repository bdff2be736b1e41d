import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

const SERVER = join(import.meta.dirname, 'swiftserver.py');

/**
 * A real S3 server with an empty bucket, in a folder and at a port of its own: Debian's OpenStack Swift. `conditional`:
 * whether it knows PUT with `If-None-Match: *`, as most servers now do.
 */
export async function startS3({ conditional = true } = {}): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'backtest-s3-'));
  const credentials = { accessKeyId: 'fleet:tester', secretAccessKey: 'secret-of-the-tester' };
  const { accessKeyId, secretAccessKey } = credentials;
  const server = spawn(
    // Not the first python3 of the path: Debian's packages are for Debian's.
    '/usr/bin/python3',
    [SERVER, folder, accessKeyId, secretAccessKey, conditional ? '1' : '0'],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const ended = once(server, 'close').then(
    () => undefined,
    () => undefined,
  );
  const complaint = text(server.stderr);
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const port = await Promise.race([once(server.stdout, 'data').then(String), ended]);
  if (port === undefined) {
    await stop();
    throw new Error(
      `no S3 server: ${await complaint}\nIt needs Debian's packages swift-proxy, swift-account, swift-container, swift-object.`,
    );
  }
  const endpoint = `http://127.0.0.1:${port.trim()}`;
  const bucket = 'backtest';
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    await stop();
    throw error;
  } finally {
    client.destroy();
  }
  return { endpoint, region: 'us-east-1', bucket, credentials, stop };
}
