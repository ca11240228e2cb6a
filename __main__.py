"""`python -m memstrata` is the command `memstrata`."""

from .cli import main

main()
