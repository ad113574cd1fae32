"""The words of the field: tokens and synonyms, names, numbers with units, spelling, other languages."""
