"""Another user, who made a run directory before the victim did, and takes what programs send.

Usage: attacker.py DESCRIPTOR..., each a socket that is bound, but does not listen yet. Prints `ready`, then a line for
every connection, and for each message its numbers of bytes and descriptors.
"""

import selectors
import socket
import sys


def listen(descriptors, selector):
    for descriptor in descriptors:
        listener = socket.socket(fileno=int(descriptor))
        listener.listen(16)
        selector.register(listener, selectors.EVENT_READ, True)


def main():
    selector = selectors.DefaultSelector()
    listen(sys.argv[1:], selector)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            if key.data:
                connection, _ = key.fileobj.accept()
                selector.register(connection, selectors.EVENT_READ, False)
                print("a connection", flush=True)
                continue
            message, descriptors, _, _ = socket.recv_fds(key.fileobj, 1 << 16, 64)
            if not message:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                continue
            print(f"taken: {len(message)} bytes, {len(descriptors)} descriptors", flush=True)
            key.fileobj.send(b'{"pid": 1}\n')


main()
