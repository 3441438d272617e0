"""Tables: reports, differences, datasets, and formats that libraries read and write."""
