# SPDX-License-Identifier: Apache-2.0
"""Reads traces as ShiViz does, and checks that their vector clocks can be true."""
import json
import re

# What docs/TRACES.md tells people to put into ShiViz's form.
PARSER = re.compile(r"(?P<host>\S*) (?P<clock>{.*})\n(?P<event>.*)")
TIME = r"(?:\[[\d.]+s\] )?"  # the simulator knows it
SENT = re.compile(TIME + r"sends to (\S+): (.*)", re.S)
RECEIVED = re.compile(TIME + r"receives from (\S+): (.*)", re.S)


class Event:
    def __init__(self, host, clock, text):
        self.host, self.clock, self.text = host, clock, text
        self.own = clock.get(host, 0)

    def __repr__(self):
        return f"{self.host} {self.clock}\n{self.text}"

    def knows(self, other):
        """Everything that the other event knew is known here."""
        return all(self.clock.get(host, 0) >= n for host, n in other.clock.items())


def parse(text):
    """All events; nothing may be left over between them."""
    events, end = [], 0
    for match in PARSER.finditer(text):
        assert text[end:match.start()] in ("", "\n"), f"not an event: {text[end:match.start()]!r}"
        end = match.end()
        events.append(Event(match["host"], json.loads(match["clock"]), match["event"]))
    assert text[end:] in ("", "\n"), f"not an event: {text[end:]!r}"
    return events


def by_host(events):
    hosts = {}
    for event in events:
        hosts.setdefault(event.host, []).append(event)
    return hosts


def check_counters(hosts):
    """Each counts its own events from 1, without gaps, and forgets nothing."""
    for events in hosts.values():
        for number, event in enumerate(events, 1):
            assert event.own == number, f"its own counter should be {number}: {event}"
            assert number == 1 or event.knows(events[number - 2]), f"it forgot something: {event}"


def check_past(hosts):
    """Whatever an event knows of has happened, and has not known of the event itself."""
    for events in hosts.values():
        for event in events:
            for host, n in event.clock.items():
                assert host in hosts and 1 <= n <= len(hosts[host]), f"{host} {n} never happened: {event}"
                known = hosts[host][n - 1]
                assert event.knows(known), f"knows of {known}, but not what that knew: {event}"
                assert known is event or known.clock.get(event.host, 0) < event.own, f"knows its future: {event}"


def is_called(host, name):
    """Workers do not know which process of the server they speak to."""
    return host == name or host.startswith(name + ".")


def sendings(hosts):
    """(text) -> all events that sent just that."""
    found = {}
    for events in hosts.values():
        for event in events:
            if match := SENT.fullmatch(event.text):
                found.setdefault(match[2], []).append((match[1], event))
    return found


def check_messages(hosts):
    """Every receipt has its sending, and knows what the sender knew. Returns how many there are."""
    sent, n = sendings(hosts), 0
    for events in hosts.values():
        for event in events:
            if not (match := RECEIVED.fullmatch(event.text)):
                continue
            n += 1
            assert any(is_called(s.host, match[1]) and is_called(event.host, to) and event.knows(s)
                       for to, s in sent.get(match[2], [])), f"nobody sent this: {event}"
    return n


def check(text):
    """The whole trace; returns its hosts with their events, and the number of messages received."""
    hosts = by_host(parse(text))
    check_counters(hosts)
    check_past(hosts)
    return hosts, check_messages(hosts)
