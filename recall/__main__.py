"""`python -m recall` is the command `recall`."""

from recall.cli import main

main()
