"""From evidence in sessions to a kept memory: nothing becomes memory without an explicit, undoable decision."""

from memory.errors import MemoryStoreError

__all__ = ["MemoryStoreError"]
