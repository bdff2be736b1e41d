// node putter.ts <folder> <key> <file>: puts a file, in a process of its own.
import { openFolderStore } from '../../src/store/folder.ts';
import { SECRET } from './support.ts';

const [folder, key, file] = process.argv.slice(2) as [string, string, string];
const store = await openFolderStore(folder, { base_url: 'http://localhost', secret: SECRET });
await store.put(key, { file });
