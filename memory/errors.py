"""What can go wrong in the memory workflow."""


class MemoryStoreError(Exception):
    """Base of every error this package raises on purpose."""
