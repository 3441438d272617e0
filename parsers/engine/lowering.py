"""Lower a Lark grammar to tables: Lark's own LALR table, and automata for the terminals."""

import numpy as np
from lark import Lark
from lark.grammar import Rule
from lark.parsers.lalr_analysis import Shift

from exset.parsers.engine.expectation import END
from exset.parsers.engine.lexer_tables import lexers
from exset.parsers.engine.tables import (
    MOST_COLUMNS,
    MOST_MOVES,
    SILENT,
    Lowered,
    Tables,
    encode_rule,
)


def lower(lark: Lark, start: str, step_names: tuple[str, ...]) -> Lowered:
    """Return the tables of a grammar. Raises ValueError for a terminal that is not regular."""
    terminals = tuple(sorted(terminal.name for terminal in lark.terminals))
    patterns = {terminal.name: terminal for terminal in lark.terminals}
    numbers = {name: number for number, name in enumerate((*terminals, END))}
    conf = lark.parse_interactive(b"", start).parser_state.parse_conf
    states = {state: number for number, state in enumerate(conf.states)}
    rules = {rule: number for number, rule in enumerate(lark.rules)}
    origins = {name: n for n, name in enumerate(sorted({rule.origin.name for rule in rules}))}

    action = np.zeros((len(states), len(numbers)), np.int16)
    goto = np.zeros((len(states), len(origins)), np.int16)
    accepted: dict[frozenset[str], list[int]] = {}
    for state, table in conf.states.items():
        for symbol, (what, argument) in table.items():
            if symbol in origins:
                goto[states[state], origins[symbol]] = states[argument]
            elif what is Shift:
                action[states[state], numbers[symbol]] = states[argument] + 1
            else:
                action[states[state], numbers[symbol]] = -(rules[argument] + 1)
        allowed = frozenset(table) & set(terminals)
        accepted.setdefault(allowed | set(lark.ignore_tokens), []).append(states[state])

    lexing = lexers(patterns, numbers, frozenset(lark.ignore_tokens), list(accepted))
    if len(lexing.moves) > MOST_MOVES or len(numbers) > MOST_COLUMNS:
        raise ValueError("the grammar is too large")
    lexer = np.zeros(len(states), np.int64)
    for row, where in zip(lexing.starts, accepted.values(), strict=True):
        lexer[where] = row

    return Lowered(
        Tables(
            classes=lexing.classes,
            moves=lexing.moves,
            ahead=lexing.ahead,
            lexer=lexer,
            action=action.reshape(-1),
            goto=goto.reshape(-1),
            rules=np.array(
                [
                    encode_rule(
                        len(rule.expansion),
                        _loops(rule),
                        _step(rule, step_names),
                        origins[rule.origin.name],
                    )
                    for rule in rules
                ],
                np.int64,
            ),
            sizes=np.array(
                [
                    len(numbers),
                    len(origins),
                    states[conf.start_state],
                    states[conf.end_state],
                    int(lexing.classes.max()) + 1,
                ],
                np.int64,
            ),
        ),
        terminals,
        tuple(_literal(patterns[name].pattern) for name in terminals),
        tuple(sorted({name for rule in rules if not (name := rule_name(rule)).startswith("_")})),
    )


def rule_name(rule: Rule) -> str:
    """Return the name of a rule's step: the method that Lark would call on a transformer."""
    return str(rule.alias or rule.options.template_source or rule.origin.name)


def _step(rule: Rule, names: tuple[str, ...]) -> int:
    return names.index(name) if (name := rule_name(rule)) in names else SILENT


def _loops(rule: Rule) -> bool:
    # Reducing A -> A x leaves A's state on the stack, so it is enough to pop x.
    return bool(rule.expansion) and rule.expansion[0] == rule.origin


def _literal(pattern: object) -> str | None:
    value = getattr(pattern, "value", None)
    return value if getattr(pattern, "type", "") == "str" and isinstance(value, str) else None
