"""Parse texts by a Lark grammar of your own, which the engine runs."""
