# Exclusive or with nearly every word there is.
# A procedure is Tcl for Lens to run. To exset it is text: it is kept and never run.
proc: {
  set answers 0
}
max: 4 min: 0.5 grace: 0.5
defI: - actI: 0.9 defT: 0 actT: 0.95
;

# Two events: the inputs come first, the target comes later.
name: {nought nought}
freq: 2.5
proc: {incr answers}
2
[0 max: 1 min: 1]
[1 max: 2.5 proc: {incr answers}]
[0] I: 0 0
[1] T: 0;

# One event. Sparse units take the active value: 0.9 for inputs, 0.95 for targets.
name: {nought one}
freq: 4.5
[grace: 1]
I: {0} 0 {} 1
t: 0;

# Both events have the same inputs, the second alone has a target.
name: {one nought}
2
[*] I: 1 0
[1] t: *;

# Three events with the same inputs; the middle one has no target: `-` is not a number.
name: {one one}
3
[0-2 min: 1.5] I: 1 1
[0 2] T: 0
[1] T: -;
