int *p; string s;
BEGIN { p &= 1; p <<= 1; s %= 2; ~p; p | 1; }
