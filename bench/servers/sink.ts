/** Takes whatever its connections send, and answers nothing. */
import { createServer, type AddressInfo } from 'node:net';
import { announce } from './announce.ts';

const server = createServer((socket) => void socket.resume().on('error', () => {}));
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
