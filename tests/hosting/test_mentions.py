"""Diagrams and catalogues are found in pages before these are converted."""

from __future__ import annotations

import pytest

from modeldiagrams.hosting.mentions import find_catalogues, find_mentions

RST = """
Title
=====

.. model-graph:: mypkg.Net
   :inputs: [1, 4]
   :caption: Two
      lines

   kwargs:
     depth: 3

Text.

  * .. model-graph:: mypkg.Other
.. model-graph::

   model: mypkg.Third

.. code-block:: rst

   .. model-graph:: example.Net

For example::

   .. model-graph:: example.Net

.. A comment: with

   .. model-graph:: example.Net
..
   .. model-graph:: example.Net

..

.. |net| image:: net.png
.. note::

   .. model-graph:: mypkg.Fourth

.. model-tour:: mypkg.Fifth
   :inputs: [1, 4]

   .. tour-step:: Title
      :open: layers

      Prose: of a step.
"""
MARKDOWN = """
```model-graph
mypkg.Net
```

> Quote

```{model-graph} mypkg.Other
:depth: 2
inputs: [1, 4]
```

:::{model-graph} mypkg.Third
:::

````markdown
```model-graph
model: quoted.Net
```
````

```python
model-graph
```

- Item

  of two paragraphs

    ```model-graph
    model: mypkg.Fourth
    ```

Code:

    ```model-graph
    model: example.Net
    ```

<!-- left out -->
<!--
```model-graph
model: example.Net
```
-->

::::{model-tour} mypkg.Fifth
:depth: 0

:::{tour-step} Title
Prose: of a step.
:::
::::

/// model-tour | mypkg.Sixth
    inputs: [1, 4]

//// tour-step | Title
Prose: of a step.
////
///

/// model-tour
    model: mypkg.Seventh
///
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            RST,
            [
                ({"model": "mypkg.Net", "inputs": "[1, 4]", "caption": "Two\nlines"}, "\nkwargs:\n  depth: 3"),
                ({}, "model: mypkg.Third"),
                ({"model": "mypkg.Fourth"}, ""),
                ({"model": "mypkg.Fifth", "inputs": "[1, 4]"}, ""),
            ],
        ),
        (
            MARKDOWN,
            [
                ({}, "mypkg.Net"),
                ({"model": "mypkg.Other", "depth": "2"}, "inputs: [1, 4]"),
                ({"model": "mypkg.Third"}, ""),
                ({}, "model: mypkg.Fourth"),
                ({"model": "mypkg.Fifth", "depth": "0"}, ""),
                ({"model": "mypkg.Sixth"}, "inputs: [1, 4]"),
                ({}, "model: mypkg.Seventh"),
            ],
        ),
        ("", []),
        (".. model-graph:: a.B", [({"model": "a.B"}, "")]),
        ("```model-graph", [({}, "")]),
    ],
    ids=["rst", "markdown", "empty", "end of a directive", "end of a fence"],
)
def test_mentions_have_the_options_and_bodies_that_hosts_read(text, expected):
    assert list(find_mentions(text)) == expected


CATALOGUES = """
.. model-catalogue:: torchvision.models timm.models
   :group-by: none

   depth: 1

.. model-graph:: mypkg.Net

.. code-block:: rst

   .. model-catalogue:: example.models

```model-catalogue
of: mypkg
```

:::{model-catalogue} mypkg.*Net
:exclude: a, b
:::
"""


def test_catalogues_have_their_lines():
    assert list(find_catalogues(CATALOGUES)) == [
        ({"of": "torchvision.models timm.models", "group-by": "none"}, "\ndepth: 1", 2),
        ({}, "of: mypkg", 13),
        ({"of": "mypkg.*Net", "exclude": "a, b"}, "", 17),
    ]
    assert list(find_mentions(CATALOGUES)) == [({"model": "mypkg.Net"}, "")]
