"""The index as it is kept: one store, the files of the search engines, and what opens them."""
