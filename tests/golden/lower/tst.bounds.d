int row[6], i; struct part { int before; short of[3]; } part; string word;
BEGIN { trace(row[i]); row[i] = 1; row[2] = 1; part.of[i]++; trace(row[i & 3]); }
BEGIN { word[i] = 'x'; word[2] = 'y'; trace(word[i]); }
