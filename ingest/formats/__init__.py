"""From the bytes of any format to a document's text."""
