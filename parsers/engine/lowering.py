"""From a Lark grammar to tables: Lark's own LALR table, and automata for its terminals."""

import numpy as np
from lark import Lark
from lark.grammar import Rule
from lark.parsers.lalr_analysis import Shift

from exset.parsers.engine.automata import DEAD, automaton, byte_classes, combine, units
from exset.parsers.engine.expect import END
from exset.parsers.engine.tables import SILENT, Lowered, Tables, packed_rule


def lower(lark: Lark, start: str, step_names: tuple[str, ...]) -> Lowered:
    """Tables of a grammar; ValueError for a terminal that no automaton can match."""
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

    automata = {name: automaton(patterns[name]) for name in terminals}
    byte_class, sample = byte_classes(list(automata.values()))
    lexer = np.zeros(len(states), np.int32)
    # Lexer state 0 is dead: it moves nowhere and accepts nothing.
    moves, codes = [np.zeros((1, len(sample)), np.int32)], [np.zeros(1, np.int32)]
    rows: dict[bytes, int] = {}
    row = [np.zeros(1, np.int16)]
    base = 1
    for allowed, where in accepted.items():
        made = combine(units([patterns[name] for name in allowed]), automata, numbers, sample)
        lexer[where] = base << 8
        moves.append(np.where(made.moves == DEAD, 0, made.moves + base).astype(np.int32))
        depends = (made.accept < 0) & (made.ahead >= 0).any(axis=1)
        codes.append(np.where(made.accept >= 0, made.accept + 2, depends).astype(np.int32))
        row.append(np.zeros(len(made.accept), np.int16))
        for state in np.flatnonzero(depends):
            spread = made.ahead[state][byte_class].astype(np.int16)
            row[-1][state] = rows.setdefault(spread.tobytes(), len(rows))
        base += len(made.accept)
    target, code = np.concatenate(moves), np.concatenate(codes)

    return Lowered(
        Tables(
            moves=((target << 8) | code[target])[:, byte_class].reshape(-1),
            ahead=np.frombuffer(b"".join(rows), np.int16).copy(),
            row=np.concatenate(row),
            lexer=lexer,
            action=action.reshape(-1),
            goto=goto.reshape(-1),
            rules=np.array(
                [
                    packed_rule(
                        len(rule.expansion),
                        _loops(rule),
                        _step(rule, step_names),
                        origins[rule.origin.name],
                    )
                    for rule in rules
                ],
                np.int64,
            ),
            ignored=np.array([name in lark.ignore_tokens for name in terminals]),
            sizes=np.array(
                [
                    len(numbers),
                    len(origins),
                    states[conf.start_state],
                    states[conf.end_state],
                ],
                np.int64,
            ),
        ),
        terminals,
        tuple(_literal(patterns[name].pattern) for name in terminals),
        tuple(sorted({name for rule in rules if not (name := rule_name(rule)).startswith("_")})),
    )


def rule_name(rule: Rule) -> str:
    """The name under which a rule is reported, as Lark would call a transformer."""
    return str(rule.alias or rule.options.template_source or rule.origin.name)


def _step(rule: Rule, names: tuple[str, ...]) -> int:
    return names.index(name) if (name := rule_name(rule)) in names else SILENT


def _loops(rule: Rule) -> bool:
    # Reducing A -> A x leaves A's state where it was, so popping x is all there is to do.
    return bool(rule.expansion) and rule.expansion[0] == rule.origin


def _literal(pattern: object) -> str | None:
    value = getattr(pattern, "value", None)
    return value if getattr(pattern, "type", "") == "str" and isinstance(value, str) else None
