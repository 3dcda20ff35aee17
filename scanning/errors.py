"""What can go wrong while scanning."""


class ScanningError(Exception):
    """Base of every error this package raises on purpose."""
