# Exclusive or as an auto-encoder of three units: the two inputs and the answer.
# B: and b: give one list that is inputs and targets at once; it is stored once, too.
name:000 B: 0 0 0;
name:011 b: 1 2;
name:101 b: 0 2;
name:110 b: 0-1;
