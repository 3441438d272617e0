# Exclusive or. I: gives the inputs, T: the targets, one number a unit; `;` ends an example.
name:00 I: 0 0 T: 0;
name:01 I: 0 1 T: 1;
name:10 I: 1 0 T: 1;
name:11 I: 1 1 T: 0;
