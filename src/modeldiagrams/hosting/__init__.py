"""What all documentation tools share: options, warnings, links and files."""
