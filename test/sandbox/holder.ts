// A process that holds a box until it is told to stop: node holder.ts KIND TEMP NAME
import { request, sandboxOf, start, talk } from './boxes.ts';

const [kind, temp, name] = process.argv.slice(2);
const sandbox = await sandboxOf(kind as 'docker' | 'process', temp);
process.once('SIGINT', async () => {
  await sandbox.close();
  process.exit(0);
});
const box = await sandbox.open(request(name, 'python@3.14'));
await talk(box).start(start('python@3.14', ''));
console.log('ready');
setInterval(() => {}, 1000);
