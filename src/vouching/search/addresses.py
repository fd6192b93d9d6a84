"""Which addresses of the internet a page may be fetched from: public ones, and nothing that leads inside.

Left out: what a network of one's own does to public addresses, such as a NAT64 prefix of its own.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from vouching.errors import FetchError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_UNICAST = IPv6Network("2000::/3")
"""The only part of IPv6 that is given out for use across the internet."""
_NAT64 = IPv6Network("64:ff9b::/96")
_HOST_AGENT = IPv4Address("168.63.129.16")
"""Public by its number, but in every machine of Azure the address of the host below it."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet.

    An IPv6 address that stands for one of IPv4 (mapped, or NAT64's well-known prefix) counts as that. Tunnels (6to4,
    Teredo) count as private: where they end is not known.

    >>> [is_public(ip_address(text)) for text in ("93.184.215.14", "127.0.0.1", "169.254.169.254", "10.0.0.8")]
    [True, False, False, False]
    >>> [is_public(ip_address(text)) for text in ("2606:4700::1", "::1", "::ffff:10.0.0.8", "64:ff9b::127.0.0.1")]
    [True, False, False, False]
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST or address.sixtofour is not None or address.teredo is not None:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address == _HOST_AGENT)


async def resolve(host: str, port: int, allow: Sequence[Network] = ()) -> list[str]:
    """The addresses of a host, all of them public or in a network of ``allow``.

    One address that is neither refuses the host: a name that points both ways is not to be trusted.

    Args:
        host: a name, or an address in any notation that the system reads (127.1, 0x7f000001 and the like).
        port: which port is meant.
        allow: networks that may be reached although they are not public.

    Raises:
        FetchError: the host has no address, or one that is not allowed.

    >>> asyncio.run(resolve("0x7f.1", 80))
    Traceback (most recent call last):
    ...
    vouching.errors.FetchError: 0x7f.1 is at 127.0.0.1, which is no address of the public internet: it is not fetched
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"{host} has no address: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        if not is_public(address) and not any(address in network for network in allow):
            raise FetchError(f"{host} is at {text}, which is no address of the public internet: it is not fetched")
    return addresses
