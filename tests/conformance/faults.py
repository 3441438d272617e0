"""Faults that real readers of Lens texts have, which `right_reader` can have, too.

The list was written before the cases of the kit, from the sections of the manual: each fault
changes a value or a verdict of some files, and nothing else.
"""

from typing import Final

FAULTS: Final = {
    # The set header.
    "counts-stay": (
        "the two numbers at the beginning of old files are not skipped",
        "header-two-numbers",
    ),
    "second-count-stays": ("only the first of the two numbers is skipped", "header-two-numbers"),
    "first-field-wins": (
        "the first value of a repeated header field holds, not the last",
        "header-last-wins",
    ),
    "missing-is-zero": ("a field without a value is 0, not NaN", "events-field-missing"),
    "header-eats-semicolons": (
        "the header takes all semicolons that follow",
        "examples-semicolons",
    ),
    # Inheritance.
    "set-active": (
        "a sparse list takes the active value of the set, not that of the event",
        "sharing-active-of-event",
    ),
    "field-for-all": (
        "a field in an event list holds for all events of the example",
        "events-times",
    ),
    "late-active": (
        "an active value that is set later changes the data before it",
        "sharing-late-active",
    ),
    "forgets-fields": (
        "an event list drops the fields of earlier lists",
        "events-fields-accumulate",
    ),
    # Sharing.
    "both-copied": ("B: copies the list instead of sharing it", "sharing-both"),
    "events-copied": ("each listed event gets a copy of the list", "comments-in-list"),
    "both-uses-target": ("b: takes the active target value", "sharing-both-active"),
    "last-active": (
        "a shared list takes the active value of the last event",
        "sharing-active-of-first",
    ),
    "both-same-event": (
        "B: gives the targets to the event that gets the inputs",
        "sharing-both-apart",
    ),
    # Spans.
    "span-end-lost": ("a span of units is two single units", "sparse-span"),
    "no-span-of-one": ("a span of one unit is refused", "sparse-span-of-one"),
    "event-span-short": ("a span of events ends one event too early", "events-span"),
    "event-span-of-one": ("a span of one event is accepted", "events-span-of-one"),
    "no-blank-in-span": ("a span of events with blanks is refused", "events-span-blanks"),
    # Sparse `*`.
    "star-is-zero": ("`*` is unit 0", "dense-star-after-braces"),
    "star-and-units": ("units after `*` are accepted", "examples-count-after-data"),
    "star-is-group-end": ("a range after a range with `*` is dropped", "sparse-star-group"),
    # NaN.
    "dash-is-zero": ("a dash is 0, not NaN", "events-field-default-nan"),
    "dash-needs-blank": ("a dash before `;` is refused", "header-dash"),
    "dash-in-braces": ("a dash in braces leaves the active value", "sparse-nan"),
    # Event counts.
    "no-events": ("an example of 0 events is accepted, and has one", "examples-count-zero"),
    "first-count-wins": ("the first number of events holds, not the last", "examples-count-twice"),
    "next-goes-back": (
        "the next event is the one after the last list, even if it is earlier",
        "events-list-back",
    ),
    "extra-inputs": (
        "inputs for an event that the example does not have are ignored",
        "events-too-many-inputs",
    ),
    "empty-waits": ("`I:` without values leaves the next event where it is", "events-empty-data"),
    "second-inputs": (
        "the second inputs of an event replace the first ones",
        "events-inputs-twice",
    ),
    # Comments.
    "indented-comment": ("`#` after blanks begins a comment", "comments-hash-in-string"),
    "trailing-comment": ("`#` after a token begins a comment", "comments-hash-in-word"),
    "comment-in-string": ("a line with `#` stays in a string", "comments-in-string"),
    # Numbers.
    "six-digits": ("numbers are rounded to six digits", "numbers-nearest"),
    "no-glued-numbers": ("numbers without a blank between them are refused", "numbers-glued"),
    "plus-in-list": ("a plus sign before a value is accepted", "numbers-plus"),
    "no-open-exponent": ("an exponent without digits is refused", "numbers-open-exponent"),
    # Line ends.
    "no-cr": ("a carriage return alone does not end a line", "comments-cr"),
    "crlf-in-string": ("a string keeps the carriage return of CRLF", "comments-crlf-in-string"),
    # Strings and groups.
    "bare-semicolon": ("a bare word ends at a semicolon", "header-proc-last-wins"),
    "no-nesting": ("a string ends at the first closing delimiter", "strings-nested"),
    "drops-backslash": ("a backslash is removed from the string", "strings-escape"),
    "keeps-first-break": (
        "a string keeps the line breaks at its beginning",
        "strings-first-breaks",
    ),
    "group-stays": (
        "a range without a group has that of the range before it",
        "dense-group-not-carried",
    ),
    "any-case": ("the words of the language may be in any case", "examples-any-case"),
    "frequency-lost": ("the frequency is always 1", "examples-frequency"),
}
"""What each fault does, and the first declared case that finds it."""
