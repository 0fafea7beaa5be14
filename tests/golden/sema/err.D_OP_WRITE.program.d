/* @program */
BEGIN { a.out`counter = 1; a.out`counter++; }
