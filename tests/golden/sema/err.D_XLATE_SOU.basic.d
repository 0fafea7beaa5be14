translator int < int *I > { a = 1; };
