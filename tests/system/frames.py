# SPDX-License-Identifier: GPL-2.0-or-later
"""A peer at the other end of the cable: Ethernet frames as datagrams on the loopback, and just enough of ARP, IP, ICMP
and UDP to ask whether the guest still answers.
"""

import random
import socket
import struct
from collections.abc import Callable, Iterator

GUEST, PEER = bytes([10, 0, 9, 2]), bytes([10, 0, 9, 1])
GUESTS_CARD, PEERS_CARD, ALL = bytes.fromhex("525400123456"), bytes.fromhex("020000000001"), b"\xff" * 6
ARP, IP = 0x0806, 0x0800
ICMP, TCP, UDP = 1, 6, 17
AGAIN = 0.3  # seconds behind which a question that has had no answer is asked again
MOST_UNANSWERED = 20  # frames that the guest has taken since then; who answers none of these answers no more


def checksum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(kind: int, data: bytes, to: bytes = GUESTS_CARD) -> bytes:
    return (to + PEERS_CARD + struct.pack("!H", kind) + data).ljust(60, b"\0")


def arp(operation: int, to: bytes = ALL) -> bytes:
    packet = struct.pack("!HHBBH", 1, IP, 6, 4, operation) + PEERS_CARD + PEER + GUESTS_CARD + GUEST
    return ethernet(ARP, packet, to)


def ip(protocol: int, data: bytes, fragment: int = 0, options: bytes = b"", identification: int | None = None) -> bytes:
    words = 5 + len(options) // 4
    known = random.getrandbits(16) if identification is None else identification
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0, 4 * words + len(data), known, fragment, 64, protocol, 0)
    head += PEER + GUEST + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + data


def in_two(protocol: int, data: bytes, identification: int, size: int = 24) -> Iterator[bytes]:
    """The frames of an IP packet that comes in two fragments, of which the first has `size` bytes, a multiple of 8."""
    more = 0x2000
    for fragment, part in ((more, data[:size]), (size // 8, data[size:])):
        yield ethernet(IP, ip(protocol, part, fragment, identification=identification))


def icmp_echo(number: int, data: bytes) -> bytes:
    body = struct.pack("!BBHHH", 8, 0, 0, 7, number) + data
    return body[:2] + struct.pack("!H", checksum(body)) + body[4:]


def over_ip(protocol: int, length: int, data: bytes) -> int:
    """The checksum of TCP and UDP."""
    return checksum(PEER + GUEST + struct.pack("!BBH", 0, protocol, length) + data)


def udp(port: int, data: bytes, source: int = 4000) -> bytes:
    head = struct.pack("!HHHH", source, port, 8 + len(data), 0)
    return head[:6] + struct.pack("!H", over_ip(UDP, 8 + len(data), head + data)) + data


def tcp(port: int, flags: int, options: bytes, data: bytes, dice: random.Random) -> bytes:
    words = 5 + (len(options) + 3) // 4
    head = struct.pack(
        "!HHIIBBHHH", dice.randrange(1024, 65536), port, dice.getrandbits(32), dice.getrandbits(32), words << 4, flags,
        dice.getrandbits(16), 0, dice.getrandbits(16)
    )  # fmt: skip
    segment = head + options.ljust(4 * (words - 5), b"\1") + data
    return segment[:16] + struct.pack("!H", over_ip(TCP, len(segment), segment)) + segment[18:]


def segment(
    source: int, port: int, sequence: int, acknowledged: int, flags: int, data: bytes = b"", window: int = 0
) -> bytes:
    """A right one of TCP; without a window its sender takes no data."""
    head = struct.pack("!HHIIBBHHH", source, port, sequence, acknowledged, 5 << 4, flags, window, 0, 0)
    return head[:16] + struct.pack("!H", over_ip(TCP, len(head + data), head + data)) + head[18:] + data


class Peer:
    """Sends to the emulator at `port`, and receives at the port behind it. `frames_taken` says how many frames the
    guest has taken from it, and raises an error if the guest has ended.
    """

    def __init__(self, port: int, frames_taken: Callable[[], int]):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port + 1))
        self.socket.settimeout(AGAIN)
        self.guest, self.frames_taken = ("127.0.0.1", port), frames_taken

    def send(self, frame: bytes) -> None:
        self.socket.sendto(frame, self.guest)

    def receive(self) -> bytes:
        """The next frame that is no question about this peer's address, which is answered; TimeoutError if none
        comes.
        """
        while True:
            frame = self.socket.recv(4096)
            if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\0\1" and frame[38:42] == PEER:
                self.send(arp(2, GUESTS_CARD))
                continue
            return frame

    def tries(self) -> Iterator[None]:
        """For a question that may be lost: as often as there is hope of an answer."""
        yield
        first = self.frames_taken()
        while self.frames_taken() - first < MOST_UNANSWERED:
            yield

    def asks(self, question: bytes, protocol: int, answer: bytes) -> bool:
        """Whether an IP packet of this protocol comes back that ends with `answer`."""
        for _ in self.tries():
            self.send(ethernet(IP, ip(protocol, question)))
            try:
                while True:
                    frame = self.receive()
                    if frame[12:14] == b"\x08\0" and frame[23] == protocol and answer in frame[34:]:
                        return True
            except TimeoutError:
                continue
        return False

    def pings(self, number: int, size: int = 56) -> bool:
        data = random.Random(number).randbytes(size)
        return self.asks(icmp_echo(number, data), ICMP, struct.pack("!HH", 7, number) + data)

    def echoes(self, text: bytes) -> bool:
        return self.asks(udp(7, text), UDP, text)


class DeafStream:
    """A TCP connection to the guest by which nothing is taken that the guest sends, until it is asked for."""

    SYN, RST, ACK, TRIES = 2, 4, 16, 4

    def __init__(self, peer: Peer, port: int, source: int = 4000):
        self.peer, self.ends, self.sent, self.guests = peer, (source, port), 1, 0
        for _ in peer.tries():
            self.put(self.SYN, 0)
            if answer := self.answer(1):
                self.guests = int.from_bytes(answer[4:8], "big") + 1
                break
        assert self.guests, "nobody takes the connection"
        self.put(self.ACK, self.sent)

    def put(self, flags: int, sequence: int, data: bytes = b"") -> None:
        self.peer.send(ethernet(IP, ip(TCP, segment(*self.ends, sequence, self.guests, flags, data))))

    def put_in_two(self, data: bytes) -> None:
        """A segment in two fragments."""
        for frame in in_two(TCP, segment(*self.ends, self.sent, self.guests, self.ACK, data), self.ends[0]):
            self.peer.send(frame)

    def answer(self, acknowledged: int) -> bytes:
        """A segment of the guest's that says that it has all before; empty if none comes."""
        mine = struct.pack("!HH", *reversed(self.ends)), struct.pack("!I", acknowledged)
        try:
            while True:
                frame = self.peer.receive()
                if frame[23] == TCP and (frame[34:38], frame[42:46]) == mine and not frame[47] & self.RST:
                    return frame[34:]
        except TimeoutError:
            return b""

    def send(self, data: bytes, size: int = 1000) -> bool:
        """In segments of this size; whether the guest has said that it has them, behind a few tries."""
        for _ in range(self.TRIES):
            for at in range(0, len(data), size):
                self.put(self.ACK, self.sent + at, data[at : at + size])
            if self.answer(self.sent + len(data)):
                self.sent += len(data)
                return True
        return False

    def takes(self, text: bytes) -> bool:
        """Whether what the guest has to send has this in it."""
        return self.peer.asks(segment(*self.ends, self.sent, self.guests, self.ACK, window=1460), TCP, text)


def any_frame(dice: random.Random) -> bytes:
    """A frame of some kind, right or nearly so: fields that say too much or too little, bytes that are others, parts
    that are not there.
    """
    data = dice.randbytes(dice.choice((0, 1, 8, 60, 700, 1400)))
    options = dice.randbytes(4 * dice.randrange(0, 10))
    fragment = dice.choice((0, 0, 0x2000, 0x2001, dice.getrandbits(16)))
    segment = tcp(dice.choice((7, 80, 81)), dice.choice((2, 16, 17, 18, 4, 41, 0, 63)), options, data, dice)
    frame = dice.choice(
        (
            arp(dice.choice((1, 2, 3))),
            ethernet(IP, ip(ICMP, icmp_echo(1, data), fragment, options)),
            ethernet(IP, ip(UDP, udp(dice.choice((7, 53, 68, 9)), data, dice.choice((53, 67, 4000))), fragment)),
            ethernet(IP, ip(TCP, segment, dice.choice((0, 0, 0, fragment)), options if fragment else b"")),
            ethernet(dice.getrandbits(16), data, dice.choice((ALL, GUESTS_CARD))),
        )
    )
    broken = bytearray(frame)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 8))):
        broken[dice.randrange(12, min(len(broken), 80))] = dice.getrandbits(8)
    if dice.random() < 0.2:
        del broken[dice.randrange(14, len(broken)) :]
    return bytes(broken[:1514])
