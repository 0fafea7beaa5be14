BEGIN, { exit(0); }
BEGIN, /1/ { exit(0); }
