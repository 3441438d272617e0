"""One module a family: the records of its formats, with all that is known of them."""
