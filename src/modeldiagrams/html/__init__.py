"""From a diagram to the HTML of a page."""
