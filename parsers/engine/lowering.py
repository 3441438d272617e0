"""Lower a Lark grammar to tables: Lark's own LALR table, and automata for the terminals."""

from collections.abc import Mapping
from operator import itemgetter

import numpy as np
from lark import Lark
from lark.grammar import Rule
from lark.parsers.lalr_analysis import Shift

from exset.parsers.engine.expectation import END
from exset.parsers.engine.lexer_tables import lexers
from exset.parsers.engine.tables import MOST_COLUMNS, MOST_MOVES, SILENT, Lowered, Tables


def lower(lark: Lark, start: str, step_names: tuple[str, ...] | None) -> Lowered:
    """Convert a Lark grammar to tables.

    start: the start rule. step_names: the names of the steps. With None, every rule is a step.
    Raises ValueError for a terminal that is not regular.
    """
    patterns = sorted(lark.terminals, key=lambda terminal: terminal.name)
    terminals = tuple(terminal.name for terminal in patterns)
    numbers = {name: number for number, name in enumerate((*terminals, END))}
    conf = lark.parse_interactive(b"", start).parser_state.parse_conf
    rules = {rule: number for number, rule in enumerate(lark.rules)}
    origins = {name: n for n, name in enumerate(sorted({rule.origin.name for rule in rules}))}

    order = _in_order(conf.states, conf.start_state)
    states = {state: number for number, state in enumerate(order)}
    action = np.zeros((len(states), len(numbers)), np.int16)
    goto = np.zeros((len(states), len(origins)), np.int16)
    accepted: dict[frozenset[str], list[int]] = {}
    ignored = frozenset(lark.ignore_tokens)
    for lark_state, state in states.items():
        table = conf.states[lark_state]
        for symbol, (what, argument) in table.items():
            if symbol in origins:
                goto[state, origins[symbol]] = states[argument]
            elif symbol not in numbers:
                continue  # declared by %declare: no text matches it
            elif what is Shift:
                action[state, numbers[symbol]] = states[argument] + 1
            else:
                action[state, numbers[symbol]] = -(rules[argument] + 1)
        accepted.setdefault(ignored.union(table).intersection(terminals), []).append(state)

    lexing = lexers(patterns, numbers, ignored, list(accepted))
    if len(lexing.moves) > MOST_MOVES or len(numbers) > MOST_COLUMNS:
        found = f"{len(lexing.moves):,} moves between states, {len(numbers):,} terminals"
        most = f"{MOST_MOVES:,} and {MOST_COLUMNS:,}"
        raise ValueError(f"the grammar is too large: {found}; the limits are {most}")
    lexer = np.zeros(len(states), np.int64)
    for row, where in zip(lexing.starts, accepted.values(), strict=True):
        lexer[where] = row
    steps = steps_of(lark, step_names)
    encoded = [
        (len(rule.expansion), _loops(rule), steps[rule], origins[rule.origin.name])
        for rule in rules
    ]
    classes = int(lexing.classes.max()) + 1
    sizes = len(numbers), len(origins), states[conf.start_state], states[conf.end_state], classes
    return Lowered(
        Tables(
            classes=lexing.classes,
            moves=lexing.moves,
            ahead=lexing.ahead,
            lexer=lexer,
            action=action.reshape(-1),
            goto=goto.reshape(-1),
            rules=np.array(encoded, np.int16).reshape(-1),
            sizes=np.array(sizes, np.int64),
        ),
        terminals,
        tuple(_literal(terminal.pattern) for terminal in patterns),
        tuple(sorted({name for rule in rules if not (name := name_of(rule)).startswith("_")})),
    )


def steps_of(lark: Lark, names: tuple[str, ...] | None) -> dict[Rule, int]:
    """Return the step of each rule: the index of the rule's name in `names`.

    The step of a rule whose name is not in `names` is SILENT. If `names` is None, the step of each
    rule is the number of the rule.
    """
    if names is None:
        return {rule: number for number, rule in enumerate(lark.rules)}
    numbers = {name: number for number, name in enumerate(names)}
    return {rule: numbers.get(name_of(rule), SILENT) for rule in lark.rules}


def _in_order(states: Mapping[int, Mapping[str, tuple[object, object]]], start: int) -> list[int]:
    """Return Lark's parser states in an order that is the same in every process.

    The start comes first, then the states reached from the start, then the states reached from
    these, and so on. The states reached from a state are sorted by symbol, because Lark's own order
    depends on the hashes of strings. No move leads to the start, so 0 in a table can mean that
    there is no next state.
    """
    order = [start]
    for state in order:
        for _, (what, target) in sorted(states[state].items(), key=itemgetter(0)):
            if what is Shift and isinstance(target, int) and target not in order:
                order.append(target)
    return order


def name_of(rule: Rule) -> str:
    """Return the name that Lark gives to the tree nodes of a rule: its alias, or its own name."""
    return str(rule.alias or rule.options.template_source or rule.origin.name)


def _loops(rule: Rule) -> bool:
    # Reducing A -> A x leaves the state of A on the stack, so only x must be popped.
    return bool(rule.expansion) and rule.expansion[0] == rule.origin


def _literal(pattern: object) -> str | None:
    value = getattr(pattern, "value", None)
    return value if getattr(pattern, "type", "") == "str" and isinstance(value, str) else None
