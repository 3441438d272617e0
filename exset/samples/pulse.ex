# A pulse on one of two inputs is to be answered after a pause, so time matters:
# each example is a row of events, each with its own time, and only the last one has a target.
max: 3 grace: 0.2 defT: -
;

name: left
3
[0 max: 1]
[1 max: 2]
[2 min: 1]
[0] I: 1 0
[1] I: 0 0
[2] I: 0 0 T: 1 0;

name: right
3
[0 max: 1]
[1 max: 2]
[2 min: 1]
[0] I: 0 1
[1-2] I: 0 0
[2] T: 0 1;

# A longer pause, and no pulse at all.
name: {left, late}
4
[0 max: 1]
[1-2 max: 2]
[3 min: 1]
[0] I: 1 0
[1-3] I: 0 0
[3] T: 1 0;

name: nothing
freq: 0.5
2
[*] I: 0 0
[1 min: 1] T: 0 0;
