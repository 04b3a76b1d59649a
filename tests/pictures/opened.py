"""Reads what is open in a picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET


def opened(svg: str) -> list[str]:
    """The classes of the modules that are open, as the picture names them; `Block ×3` for a sequence of these."""
    found = []
    for panel in ET.fromstring(svg).iter():  # noqa: S314  (our own)
        if "mg-expanded" not in panel.get("class", "").split():
            continue
        # a panel's own header, not the boxes in it
        for header in panel.iterfind("*[@class='mg-header']"):
            details = [part for part in header if part.get("class") == "mg-detail"]
            lines = ["".join(detail.itertext()) for detail in details]
            # a long name of a class is broken between two words
            whole = "".join(f" {line}" if re.match(r"·|\d", line) else line for line in lines)
            found += [re.split(r" ·|, ", whole)[0]] if lines else []
    return found
