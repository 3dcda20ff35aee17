"""Measurements of the library, made by a user of it: only public names are imported."""
