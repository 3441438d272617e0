# Reading aloud, three letters long. Ranges name the groups of the network, so that the unit
# numbers begin again in each group: () is before numbers for units in a row, {} before the
# numbers of units, with a value if it is not the active one.
name: cat freq: 23
I: {onset} 2 {vowel} 0 {coda} 19
T: (phoneme 3) 1 0 0.5 1 (stress) 1;

name: bee freq: 11
I: {onset} 1 {vowel} 4 4 {coda 0.5} 25
T: {phoneme} 1 8-10 (stress) 1;

name: {new word} freq: 0.1
I: (onset) 0.2 0.2 0.6 ("coda") 0.1 {vowel 0} *
T: {-} *;
