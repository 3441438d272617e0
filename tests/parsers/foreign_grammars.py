"""Grammars of other languages: the engine is not bound to a format."""

from exset.parsers.engine.grammar import Grammar

JSON = Grammar(
    file="json",
    start="value",
    steps=("object", "array", "pair", "number", "string", "true", "false", "null"),
    text=r"""
    value: object | array | string | number | "true" -> true | "false" -> false | "null" -> null
    object: "{" [pair ("," pair)*] "}"
    array: "[" [value ("," value)*] "]"
    pair: string ":" value
    string: STRING
    number: NUMBER
    STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
    NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
    BLANK: /[ \t\r\n]+/
    %ignore BLANK
    """,
)

ARITHMETIC = Grammar(
    file="arithmetic",
    start="sum",
    steps=("add", "sub", "mul", "div", "neg", "number", "name", "call"),
    text=r"""
    ?sum: product | sum "+" product -> add | sum "-" product -> sub
    ?product: atom | product "*" atom -> mul | product "/" atom -> div
    ?atom: NUMBER -> number | NAME -> name | "-" atom -> neg | "(" sum ")"
         | "sin" "(" sum ")" -> call
    NAME: /[a-z]+/
    NUMBER: /[0-9]+(\.[0-9]+)?/
    %ignore /[ \n]+/
    """,
)

INI = Grammar(
    file="ini",
    start="file",
    steps=("section", "entry", "flag"),
    text=r"""
    file: (_BREAK | section | entry | flag)*
    section: "[" NAME "]" _BREAK
    entry: NAME "=" VALUE? _BREAK
    flag: NAME _BREAK
    NAME: /[A-Za-z_][A-Za-z0-9_]*/
    VALUE: /[^ \t\r\n;][^\r\n;]*/
    _BREAK: /([ \t]*(;[^\r\n]*)?(\r\n?|\n))+/
    SPACE: /[ \t]+(?=[^ \t\r\n;])/
    %ignore SPACE
    """,
)
