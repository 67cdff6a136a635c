"""How a model is asked to write a value, and how what it wrote is read: as data, by a grammar, never run.

May import layer 0 to 3. Read `protocol.py` first; `answer.py` finds the value, `tolerant.py` is what streams read with.
"""

from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.protocol import PROTOCOLS, Protocol, ProtocolName, Reader, protocol, read_answer

__all__ = ["PROTOCOLS", "ParseLimits", "Protocol", "ProtocolName", "Reader", "protocol", "read_answer"]
