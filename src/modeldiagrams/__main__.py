"""``python -m modeldiagrams``: the command line."""

from modeldiagrams.cli import main

if __name__ == "__main__":
    main()
