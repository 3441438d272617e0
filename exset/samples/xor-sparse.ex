# Exclusive or, sparse: i: and t: name only the units that are on, and `*` is all of them.
# Nothing is on in the first example. Its `;` needs another before it, the end of the header.
;
;
i: 1 t: 0;
i: 0 t: 0;
i: *;
